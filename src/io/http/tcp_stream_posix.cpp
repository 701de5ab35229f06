#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "io/http/listener.hpp"
#include "io/http/tcp_address.hpp"
#include "io/http/tcp_stream.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/platform.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// A machine that is gone without a word is asked for a sign of life after a connection has been
/// silent for the first time, and then at intervals of the second. With three questions without an
/// answer the connection is broken. Proxies and address translation forget a silent connection
/// after a minute or more.
constexpr std::chrono::seconds kTcpSilenceMax{30};
constexpr std::chrono::seconds kTcpQuestionInterval{10};
constexpr int kTcpQuestionsMax = 3;

namespace ip = boost::asio::ip;
using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

/// How much one read takes: the answer to most requests with one call, and a large body with few.
constexpr std::size_t kReadMax = 64 * limits::kKiB;

union SystemAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

/// Returns the size that is in use.
socklen_t to_system(const TcpAddress& address, SystemAddress& result) {
  result = {};
  if (address.host.is_v4()) {
    const auto bytes = address.host.to_v4().to_bytes();
    result.v4.sin_family = AF_INET;
    result.v4.sin_port = htons(address.port);
    std::memcpy(&result.v4.sin_addr, bytes.data(), bytes.size());
    return sizeof result.v4;
  }
  const auto bytes = address.host.to_v6().to_bytes();
  result.v6.sin6_family = AF_INET6;
  result.v6.sin6_port = htons(address.port);
  result.v6.sin6_scope_id = static_cast<std::uint32_t>(address.host.to_v6().scope_id());
  std::memcpy(&result.v6.sin6_addr, bytes.data(), bytes.size());
  return sizeof result.v6;
}

TcpAddress from_system(const SystemAddress& address) {
  if (address.any.sa_family == AF_INET) {
    return {ip::address_v4(ntohl(address.v4.sin_addr.s_addr)), ntohs(address.v4.sin_port)};
  }
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &address.v6.sin6_addr, bytes.size());
  return {ip::address_v6(bytes), ntohs(address.v6.sin6_port)};
}

std::optional<TcpAddress> name_of(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  SystemAddress address{};
  socklen_t size = sizeof address;
  if (ask(socket, &address.any, &size) != 0) return {};
  return from_system(address);
}

FileDescriptor open_socket(bool is_v6) {
  FileDescriptor opened(socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0));
  if (!opened.is_open()) return opened;
  fcntl(opened.number(), F_SETFD, FD_CLOEXEC);
  fcntl(opened.number(), F_SETFL, O_NONBLOCK);
  return opened;
}

/// EINPROGRESS until the connection is open or has failed; then 0 or the reason.
int connect_result(int socket) {
  pollfd seen{socket, POLLOUT, 0};
  if (poll(&seen, 1, 0) == 0) return EINPROGRESS;
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  if (error == 0 && is_connected_to_itself(socket)) return ECONNREFUSED;
  return error;
}

}  // namespace

/// What is under way shares this object, and may outlast the stream.
struct TcpStream::State final : EventLoop::Reader, std::enable_shared_from_this<State> {
  State(EventLoop& of, Options chosen, std::uint16_t at, Events told)
      : loop(of), options(std::move(chosen)), port(at), events(std::move(told)) {}

  void look_up(std::string host) {
    resolver.emplace(loop, std::move(options.names), std::move(host),
                     [this](const Resolver::Found& found) { on_found(found); });
  }

  void on_found(const Resolver::Found& found) {
    const auto self = shared_from_this();
    if (found.addresses.empty()) {
      end(found.reason);
      return;
    }
    for (const ip::address& host : found.addresses) addresses.push_back({host, port});
    give_up_at = std::chrono::steady_clock::now() + options.connect_wait;
    try_next();
  }

  // ---- connecting

  void try_next() {
    while (tried < addresses.size()) {
      int result = try_one(addresses[tried]);
      if (result == 0) {
        open();
        return;
      }
      if (result == EINPROGRESS) {
        if (wait_for_connection()) return;
        result = errno;
      }
      note_failure(result);
    }
    end(failure());
  }

  /// Almost always, a connection on the same machine is open or refused by the time that `connect`
  /// returns.
  int try_one(const TcpAddress& to) {
    socket = open_socket(to.host.is_v6());
    if (!socket.is_open()) return errno;
    SystemAddress target;
    const socklen_t size = to_system(to, target);
    const int result = connect(socket.number(), &target.any, size);
    if (result != 0 && errno != EINPROGRESS && errno != EINTR) return errno;
    return connect_result(socket.number());
  }

  bool wait_for_connection() {
    if (!wait_for_room()) return false;
    const auto left = give_up_at - std::chrono::steady_clock::now();
    const auto share = left / static_cast<int>(addresses.size() - tried);
    limit.emplace(loop.io(), std::max(share, decltype(share)::zero()));
    limit->async_wait([self = shared_from_this(), of = tried](error_code error) {
      if (error || self->is_over || self->is_open || self->tried != of) return;
      self->on_connect_limit();
    });
    return true;
  }

  void on_connecting() {
    const int result = connect_result(socket.number());
    if (result == EINPROGRESS) {
      await_room();
      return;
    }
    room.reset();
    limit.reset();
    if (result == 0) {
      open();
      return;
    }
    note_failure(result);
    try_next();
  }

  void on_connect_limit() {
    room.reset();
    limit.reset();
    note_failure(ETIMEDOUT);
    try_next();
  }

  void note_failure(int error) {
    socket.close();
    if (error != ECONNREFUSED && other_failure.empty()) {
      const std::string reason =
          error == ETIMEDOUT ? std::string("it did not answer in time") : std::strerror(error);
      other_failure = fmt::format("{} can't be reached: {}", addresses[tried].text(), reason);
    }
    if (error == ECONNREFUSED) refusing.push_back(addresses[tried].text());
    ++tried;
  }

  /// Where several addresses failed, a refusal says most: the host is there, and the daemon is not.
  std::string failure() const {
    if (refusing.empty()) return other_failure;
    if (refusing.size() == 1) return "nothing listens on " + refusing.front();
    return fmt::format("nothing listens on {} or {}", refusing[0], refusing[1]);
  }

  void open() {
    is_open = true;
    address = addresses[tried].text();
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    keep_alive();
    buffer = std::make_unique_for_overwrite<char[]>(kReadMax);
    if (!is_paused) loop.watch(socket.number(), *this);
    events.on_opened();
  }

  void set(int level, int name, int value) {
    setsockopt(socket.number(), level, name, &value, sizeof value);
  }

  /// Lets the system find out that the other machine is gone (tcp(7)).
  void keep_alive() {
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, platform::kTcpSilenceOption, static_cast<int>(kTcpSilenceMax.count()));
    set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(kTcpQuestionInterval.count()));
    set(IPPROTO_TCP, TCP_KEEPCNT, kTcpQuestionsMax);
  }

  // ---- reading

  Seen on_readable() override {
    const ssize_t count = recv(socket.number(), buffer.get(), kReadMax, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Seen::nothing;
    if (count < 0 && errno == EINTR) return Seen::filled;
    const auto self = shared_from_this();
    if (count <= 0) {
      end(count == 0 ? write_failure : broken_by(errno));
      return Seen::partly;
    }
    const auto size = static_cast<std::size_t>(count);
    events.on_bytes({buffer.get(), size});
    return size == kReadMax ? Seen::filled : Seen::partly;
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
    const ssize_t count = recv(socket.number(), buffer.get(), kReadMax, MSG_DONTWAIT);
    return count > 0 ? std::string(buffer.get(), static_cast<std::size_t>(count)) : std::string();
  }

  // ---- writing

  void write(std::string_view bytes) {
    if (!is_open || is_broken) return;
    if (queue.empty()) bytes.remove_prefix(send_some(bytes));
    if (bytes.empty() || is_broken) return;
    queue.append(bytes);
    if (!wait_for_room()) become_broken(errno);
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
    // An assignment would keep the memory.
    std::string().swap(queue);
    written = 0;
    room.reset();
  }

  /// Waits until the socket takes bytes, or is connected. Asio gets a copy of the descriptor, and
  /// only for as long as something waits: it would wake up for everything that comes to read, too.
  /// False if that fails, with the reason in errno.
  bool wait_for_room() {
    if (room) return true;
    FileDescriptor copy(fcntl(socket.number(), F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open()) return false;
    room.emplace(loop.io());
    error_code error;
    room->assign(copy.number(), error);
    if (error) {
      room.reset();
      errno = error.value();
      return false;
    }
    copy.release();
    await_room();
    return true;
  }

  void await_room() {
    room->async_wait(stream_descriptor::wait_write, [self = shared_from_this()](error_code error) {
      if (error || self->is_over || !self->room) return;
      if (self->is_open) {
        self->write_queue();
      } else {
        self->on_connecting();
      }
    });
  }

  void become_broken(int error) {
    is_broken = true;
    write_failure = broken_by(error);
    std::string().swap(queue);
    written = 0;
    room.reset();
    if (!is_paused) read_to_end_soon();
  }

  void read_to_end_soon() {
    loop.post([self = shared_from_this()] { self->read_to_end(); });
  }

  std::string broken_by(int error) const {
    return fmt::format("the connection to {} has broken: {}", address, std::strerror(error));
  }

  // ---- the end

  void end(std::string reason) {
    close();
    events.on_closed(std::move(reason));
  }

  void close() {
    is_over = true;
    resolver.reset();
    limit.reset();
    room.reset();
    loop.forget(*this);
    socket.close();
  }

  EventLoop& loop;
  Options options;
  std::uint16_t port;
  Events events;

  std::optional<Resolver> resolver;
  std::vector<TcpAddress> addresses;
  std::size_t tried = 0;  // addresses that have failed
  std::vector<std::string> refusing;
  std::string other_failure;  // the first
  Instant give_up_at{};
  std::optional<boost::asio::steady_timer> limit;

  FileDescriptor socket;
  std::string address;
  std::unique_ptr<char[]> buffer;
  std::string queue;
  std::size_t written = 0;  // bytes of the queue
  std::string write_failure;
  std::optional<stream_descriptor> room;
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
  return peer ? listener_at(*peer) : kNoListener;
}

bool is_connected_to_itself(int socket) {
  const auto near = name_of(socket, getsockname);
  return near && near == name_of(socket, getpeername);
}

}  // namespace sitter
