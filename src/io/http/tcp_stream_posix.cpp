#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <utility>

#include "io/http/tcp_address.hpp"
#include "io/http/tcp_stream_state.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

struct Socket final : TcpStream::State, EventLoop::Reader {
  Socket(EventLoop& of, TcpStream::Options chosen, std::uint16_t at, ByteStream::Events told)
      : State(of, std::move(chosen), at, std::move(told)), waiting(of.io()) {}

  std::intptr_t number() override {
    return socket.is_open() ? socket.number() : waiting.native_handle();
  }

  // ---- connecting

  /// Almost always, a connection on the same machine is open or refused by the time that `connect`
  /// returns.
  std::optional<int> try_address() override {
    const tcp::endpoint to(attempts.address().host, attempts.address().port);
    error_code error;
    waiting.open(to.protocol(), error);
    if (!error) waiting.native_non_blocking(true, error);
    if (error) return error.value();
    fcntl(waiting.native_handle(), F_SETFD, FD_CLOEXEC);
    const auto size = static_cast<socklen_t>(to.size());
    const int result = connect(waiting.native_handle(), to.data(), size);
    if (result != 0 && errno != EINPROGRESS && errno != EINTR) return errno;
    const auto known = connect_result();
    if (!known) await_room();
    return known;
  }

  /// Nothing until the connection is open or has failed; then 0 or the reason. The limit has closed
  /// a socket that is not open.
  std::optional<int> connect_result() {
    if (!waiting.is_open()) return ETIMEDOUT;
    if (!has_result()) return {};
    const int connecting = waiting.native_handle();
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(connecting, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    if (error == 0 && is_connected_to_itself(connecting)) return ECONNREFUSED;
    return error;
  }

  /// A connection that is open by now was in time.
  void on_limit() override {
    if (!is_open && !has_result()) stop_waiting();
  }

  bool has_result() {
    pollfd seen{waiting.native_handle(), POLLOUT, 0};
    return poll(&seen, 1, 0) != 0;
  }

  void on_connecting() {
    const auto result = connect_result();
    if (!result) return await_room();
    on_result(*result);
  }

  void stop_waiting() override {
    error_code ignored;  // the descriptor is closed in any case
    waiting.close(ignored);
  }

  /// The loop reads from now on, so Asio gives up the socket: it needs more system calls, and does
  /// not return to the loop for as long as more bytes come. The options: tcp(7).
  void prepare() override {
    error_code ignored;  // only Windows refuses
    socket = FileDescriptor(waiting.release(ignored));
    set(IPPROTO_TCP, platform::kTcpSilenceOption, static_cast<int>(limits::kTcpSilenceMax.count()));
    set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(limits::kTcpQuestionInterval.count()));
    set(IPPROTO_TCP, TCP_KEEPCNT, limits::kTcpQuestionsMax);
  }

  // ---- reading

  // During a pause, the loop does call a reader whose other side has hung up.
  void start_reading() override { loop.watch(socket.number(), *this); }
  void stop_reading() override { loop.forget(*this); }

  bool read_some() override { return on_readable() != Seen::nothing; }

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

  bool is_quiet() override {
    if (!is_open || is_broken) return false;
    if (loop.knows_as_quiet(*this)) return true;
    char byte = 0;
    const ssize_t count = recv(socket.number(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  std::string take_arrived() override {
    if (!is_open || is_broken) return {};
    const ssize_t count = recv(socket.number(), buffer.get(), limits::kTcpReadMax, MSG_DONTWAIT);
    return count > 0 ? std::string(buffer.get(), static_cast<std::size_t>(count)) : std::string();
  }

  // ---- writing

  std::size_t queued() const override { return queue.size() - written; }

  std::size_t send_some(std::string_view bytes) override {
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

  void drop_queue() override {
    // An assignment would keep the memory.
    std::string().swap(queue);
    written = 0;
    stop_waiting();
  }

  /// Asio gets a copy of the descriptor, and only for as long as something waits: it would wake up
  /// for everything that comes to read, too.
  void send_later() override {
    if (waiting.is_open()) return;
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
    const auto self = std::static_pointer_cast<Socket>(shared_from_this());
    waiting.async_wait(tcp::socket::wait_write, [self](error_code error) {
      if (self->is_over) return;
      if (!self->is_open) return self->on_connecting();
      if (!error && self->waiting.is_open()) self->write_queue();
    });
  }

  void close_socket() override {
    stop_waiting();
    loop.forget(*this);
    socket.close();
  }

  /// The socket until it is connected, and a copy of it while it is full.
  tcp::socket waiting;
  FileDescriptor socket;
  std::size_t written = 0;  // bytes of the queue
};

}  // namespace

std::shared_ptr<TcpStream::State> TcpStream::State::make(EventLoop& loop, Options options,
                                                         std::uint16_t port, Events events) {
  return std::make_shared<Socket>(loop, std::move(options), port, std::move(events));
}

}  // namespace sitter
