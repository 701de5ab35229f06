#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "io/http/listener.hpp"
#include "io/http/tcp_address.hpp"
#include "io/http/tcp_attempts.hpp"
#include "io/http/tcp_stream.hpp"
#include "io/stream/timer.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

std::optional<tcp::endpoint> name_of(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  tcp::endpoint address;
  auto size = static_cast<socklen_t>(address.capacity());
  if (ask(socket, address.data(), &size) != 0) return {};
  address.resize(size);
  return address;
}

}  // namespace

/// What is under way shares this object, and may outlast the stream.
struct TcpStream::State final : EventLoop::Reader, std::enable_shared_from_this<State> {
  State(EventLoop& of, Options chosen, std::uint16_t at, Events told)
      : loop(of),
        options(std::move(chosen)),
        port(at),
        events(std::move(told)),
        limit(of, [this] { on_limit(); }),
        waiting(of.io()) {}

  void look_up(std::string host) {
    resolver.emplace(loop, std::move(options.names), std::move(host),
                     [this](const Resolver::Found& found) { on_found(found); });
  }

  void on_found(const Resolver::Found& found) {
    const auto self = shared_from_this();
    if (found.addresses.empty()) return end(found.reason);
    attempts.begin(found.addresses, port, options.connect_wait);
    try_next();
  }

  // ---- connecting

  void try_next() {
    while (attempts.has_address()) {
      const int result = try_one({attempts.address().host, attempts.address().port});
      if (result == 0) return open();
      if (result == EINPROGRESS) return wait_for_connection();
      note_failure(result);
    }
    end(attempts.failure());
  }

  /// Almost always, a connection on the same machine is open or refused by the time that `connect`
  /// returns.
  int try_one(const tcp::endpoint& to) {
    error_code error;
    waiting.open(to.protocol(), error);
    if (!error) waiting.native_non_blocking(true, error);
    if (error) return error.value();
    fcntl(waiting.native_handle(), F_SETFD, FD_CLOEXEC);
    const auto size = static_cast<socklen_t>(to.size());
    const int result = connect(waiting.native_handle(), to.data(), size);
    if (result != 0 && errno != EINPROGRESS && errno != EINTR) return errno;
    return connect_result();
  }

  /// EINPROGRESS until the connection is open or has failed; then 0 or the reason. The limit has
  /// closed a socket that is not open.
  int connect_result() {
    if (!waiting.is_open()) return ETIMEDOUT;
    if (!has_result()) return EINPROGRESS;
    const int connecting = waiting.native_handle();
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(connecting, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    if (error == 0 && is_connected_to_itself(connecting)) return ECONNREFUSED;
    return error;
  }

  void wait_for_connection() {
    limit.set(attempts.give_up_at());
    await_room();
  }

  /// A connection that is open by now was in time.
  void on_limit() {
    if (!is_open && !has_result()) stop_waiting();
  }

  bool has_result() {
    pollfd seen{waiting.native_handle(), POLLOUT, 0};
    return poll(&seen, 1, 0) != 0;
  }

  void on_connecting() {
    const int result = connect_result();
    if (result == EINPROGRESS) return await_room();
    limit.cancel();
    if (result == 0) return open();
    note_failure(result);
    try_next();
  }

  void stop_waiting() {
    error_code ignored;  // the descriptor is closed in any case
    waiting.close(ignored);
  }

  void note_failure(int error) {
    stop_waiting();
    if (error == ECONNREFUSED) {
      attempts.note_refusal();
    } else if (error == ETIMEDOUT) {
      attempts.note_silence();
    } else {
      attempts.note_failure(std::strerror(error));
    }
  }

  /// The loop reads from now on, so Asio gives up the socket: it needs more system calls, and does
  /// not return to the loop for as long as more bytes come.
  void open() {
    error_code ignored;  // only Windows refuses
    socket = FileDescriptor(waiting.release(ignored));
    is_open = true;
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    keep_alive();
    buffer = std::make_unique_for_overwrite<char[]>(limits::kTcpReadMax);
    if (!is_paused) loop.watch(socket.number(), *this);
    events.on_opened();
  }

  void set(int level, int name, int value) {
    setsockopt(socket.number(), level, name, &value, sizeof value);
  }

  /// Lets the system find out that the other machine is gone (tcp(7)).
  void keep_alive() {
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, platform::kTcpSilenceOption, static_cast<int>(limits::kTcpSilenceMax.count()));
    set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(limits::kTcpQuestionInterval.count()));
    set(IPPROTO_TCP, TCP_KEEPCNT, limits::kTcpQuestionsMax);
  }

  // ---- reading

  Seen on_readable() override {
    const ssize_t count = recv(socket.number(), buffer.get(), limits::kTcpReadMax, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Seen::nothing;
    if (count < 0 && errno == EINTR) return Seen::filled;
    const auto self = shared_from_this();
    if (count <= 0) {
      end(count == 0 ? write_failure : broken_by(errno));
      return Seen::partly;
    }
    const auto size = static_cast<std::size_t>(count);
    events.on_bytes({buffer.get(), size});
    return size == limits::kTcpReadMax ? Seen::filled : Seen::partly;
  }

  /// The other side may have said why it has closed before it closed.
  void read_to_end() {
    while (!is_over && !is_paused) {
      if (on_readable() == Seen::nothing) end(write_failure);
    }
  }

  // During a pause, the loop does call a reader whose other side has hung up.
  void set_paused(bool paused) {
    if (std::exchange(is_paused, paused) == paused || !is_open || is_over) return;
    if (paused) {
      loop.forget(*this);
      return;
    }
    loop.watch(socket.number(), *this);
    // Not every failure to write ends the connection, so that the loop would report it.
    if (is_broken) read_to_end_soon();
  }

  bool is_quiet() const {
    if (!is_open || is_broken) return false;
    if (loop.knows_as_quiet(*this)) return true;
    char byte = 0;
    const ssize_t count = recv(socket.number(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  std::string take_arrived() {
    if (!is_open || is_broken) return {};
    const ssize_t count = recv(socket.number(), buffer.get(), limits::kTcpReadMax, MSG_DONTWAIT);
    return count > 0 ? std::string(buffer.get(), static_cast<std::size_t>(count)) : std::string();
  }

  // ---- writing

  void write(std::string_view bytes) {
    if (!is_open || is_broken) return;
    if (queue.empty()) bytes.remove_prefix(send_some(bytes));
    if (bytes.empty() || is_broken) return;
    queue.append(bytes);
    if (!waiting.is_open()) wait_for_room();
  }

  /// One try. A socket that takes less than all of it is full.
  std::size_t send_some(std::string_view bytes) {
    ssize_t count = -1;
    do {
      count = send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EAGAIN && errno != EWOULDBLOCK) become_broken(errno);
    return 0;
  }

  void write_queue() {
    written += send_some(std::string_view(queue).substr(written));
    if (is_broken) return;
    if (written < queue.size()) {
      await_room();
      return;
    }
    drop_queue();
  }

  void drop_queue() {
    // An assignment would keep the memory.
    std::string().swap(queue);
    written = 0;
    stop_waiting();
  }

  /// Asio gets a copy of the descriptor, and only for as long as something waits: it would wake up
  /// for everything that comes to read, too.
  void wait_for_room() {
    FileDescriptor copy(fcntl(socket.number(), F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open()) return become_broken(errno);
    error_code error;
    const bool is_v6 = attempts.address().host.is_v6();
    waiting.assign(is_v6 ? tcp::v6() : tcp::v4(), copy.number(), error);
    if (error) return become_broken(error.value());
    copy.release();
    await_room();
  }

  void await_room() {
    waiting.async_wait(tcp::socket::wait_write, [self = shared_from_this()](error_code error) {
      if (self->is_over) return;
      if (!self->is_open) return self->on_connecting();
      if (!error && self->waiting.is_open()) self->write_queue();
    });
  }

  void become_broken(int error) {
    is_broken = true;
    write_failure = broken_by(error);
    drop_queue();
    if (!is_paused) read_to_end_soon();
  }

  void read_to_end_soon() {
    loop.post([self = shared_from_this()] { self->read_to_end(); });
  }

  std::string broken_by(int error) const { return attempts.broken_by(std::strerror(error)); }

  // ---- the end

  void end(std::string reason) {
    close();
    events.on_closed(std::move(reason));
  }

  void close() {
    is_over = true;
    resolver.reset();
    limit.cancel();
    stop_waiting();
    loop.forget(*this);
    socket.close();
  }

  EventLoop& loop;
  Options options;
  std::uint16_t port;
  Events events;

  std::optional<Resolver> resolver;
  TcpAttempts attempts;
  Timer limit;

  /// The socket until it is connected, and a copy of it while it is full.
  tcp::socket waiting;
  FileDescriptor socket;
  std::unique_ptr<char[]> buffer;
  std::string queue;
  std::size_t written = 0;  // bytes of the queue
  std::string write_failure;
  bool is_open = false;
  bool is_paused = false;
  bool is_broken = false;  // nothing can be written
  bool is_over = false;
};

TcpStream::TcpStream(EventLoop& loop, Options options, std::string host, std::uint16_t port,
                     Events events)
    : state_(std::make_shared<State>(loop, std::move(options), port, std::move(events))) {
  state_->look_up(std::move(host));
}

TcpStream::~TcpStream() { state_->close(); }

void TcpStream::write(std::string_view bytes) { state_->write(bytes); }
std::size_t TcpStream::queued() const { return state_->queue.size() - state_->written; }
void TcpStream::set_paused(bool paused) { state_->set_paused(paused); }
bool TcpStream::is_quiet() { return state_->is_quiet(); }

std::string TcpStream::take_arrived() { return state_->take_arrived(); }

ListenerId TcpStream::listener() {
  const auto peer = name_of(state_->socket.number(), getpeername);
  return peer ? listener_at({peer->address(), peer->port()}) : kNoListener;
}

bool is_connected_to_itself(std::intptr_t socket) {
  const int descriptor = static_cast<int>(socket);
  const auto near = name_of(descriptor, getsockname);
  return near && near == name_of(descriptor, getpeername);
}

}  // namespace sitter
