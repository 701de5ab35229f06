#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <utility>

#include "io/http/listener.hpp"
#include "io/http/tcp_address.hpp"
#include "io/http/tcp_attempts.hpp"
#include "io/http/tcp_stream.hpp"
#include "io/stream/timer.hpp"
#include "io/system/windows.hpp"
#include "sitter/bytes.hpp"
// mstcpip.h comes after windows.h.
#include <mstcpip.h>

namespace sitter {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

/// Options of IPPROTO_TCP since Windows 10 1709, which the headers of the compiler lack
/// ("IPPROTO_TCP socket options").
constexpr int kKeepIdle = 3;
constexpr int kKeepCount = 16;
constexpr int kKeepInterval = 17;

std::optional<tcp::endpoint> name_of(SOCKET socket, int(WSAAPI* ask)(SOCKET, sockaddr*, int*)) {
  tcp::endpoint address;
  auto size = static_cast<int>(address.capacity());
  if (ask(socket, address.data(), &size) != 0) return {};
  address.resize(static_cast<std::size_t>(size));
  return address;
}

/// Windows repeats a refused connection for 2 s. On this machine, no packet gets lost, and nobody
/// should wait (SIO_TCP_INITIAL_RTO).
void refuse_at_once(SOCKET socket) {
  TCP_INITIAL_RTO_PARAMETERS once{TCP_INITIAL_RTO_UNSPECIFIED_RTT,
                                  TCP_INITIAL_RTO_NO_SYN_RETRANSMISSIONS};
  DWORD ignored = 0;
  WSAIoctl(socket, SIO_TCP_INITIAL_RTO, &once, sizeof once, nullptr, 0, &ignored, nullptr, nullptr);
}

}  // namespace

/// What is under way shares this object, and may outlast the stream.
struct TcpStream::State final : std::enable_shared_from_this<State> {
  State(EventLoop& of, Options chosen, std::uint16_t at, Events told)
      : loop(of),
        options(std::move(chosen)),
        port(at),
        events(std::move(told)),
        limit(of, [this] { stop_connecting(); }),
        socket(of.io()) {}

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
      const tcp::endpoint to(attempts.address().host, attempts.address().port);
      error_code error;
      socket.open(to.protocol(), error);
      if (!error) return connect(to);
      attempts.note_failure(windows::error_text(static_cast<DWORD>(error.value())));
    }
    end(attempts.failure());
  }

  void connect(const tcp::endpoint& to) {
    SetHandleInformation(reinterpret_cast<HANDLE>(native()), HANDLE_FLAG_INHERIT, 0);
    if (to.address().is_loopback()) refuse_at_once(native());
    limit.set(attempts.give_up_at());
    socket.async_connect(to, [self = shared_from_this()](error_code error) {
      if (!self->is_over) self->on_connected(error);
    });
  }

  /// Ends the attempt, which then fails.
  void stop_connecting() {
    error_code ignored;  // the socket is closed in any case
    socket.close(ignored);
  }

  void on_connected(error_code error) {
    limit.cancel();
    if (!error && is_connected_to_itself(static_cast<std::intptr_t>(native()))) {
      error = boost::asio::error::connection_refused;
    }
    if (!error) socket.native_non_blocking(true, error);
    if (!error) return open();
    stop_connecting();
    if (error == boost::asio::error::connection_refused) {
      attempts.note_refusal();
    } else if (error == boost::asio::error::operation_aborted ||
               error == boost::asio::error::timed_out) {
      attempts.note_silence();
    } else {
      attempts.note_failure(windows::error_text(static_cast<DWORD>(error.value())));
    }
    try_next();
  }

  void open() {
    is_open = true;
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    keep_alive();
    buffer = std::make_unique_for_overwrite<char[]>(limits::kTcpReadMax);
    await_bytes();
    events.on_opened();
  }

  void set(int level, int name, int value) {
    setsockopt(native(), level, name, reinterpret_cast<const char*>(&value), sizeof value);
  }

  /// Lets the system find out that the other machine is gone.
  void keep_alive() {
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, kKeepIdle, static_cast<int>(limits::kTcpSilenceMax.count()));
    set(IPPROTO_TCP, kKeepInterval, static_cast<int>(limits::kTcpQuestionInterval.count()));
    set(IPPROTO_TCP, kKeepCount, limits::kTcpQuestionsMax);
  }

  SOCKET native() { return socket.native_handle(); }

  // ---- reading

  /// Waits until there is something to read. A read that is under way would take bytes away from
  /// `is_quiet` and `take_arrived`, so this one has no room for any.
  void await_bytes() {
    if (is_over || is_paused || std::exchange(is_awaiting, true)) return;
    socket.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code) {
      self->is_awaiting = false;
      if (self->is_over || self->is_paused) return;
      self->read_some();
      self->await_bytes();
    });
  }

  /// False if there was nothing.
  bool read_some() {
    const int count = recv(native(), buffer.get(), int{limits::kTcpReadMax}, 0);
    if (count < 0 && WSAGetLastError() == WSAEWOULDBLOCK) return false;
    const auto self = shared_from_this();
    if (count > 0) {
      events.on_bytes({buffer.get(), static_cast<std::size_t>(count)});
    } else {
      end(count == 0 ? write_failure : broken_by(WSAGetLastError()));
    }
    return true;
  }

  /// The other side may have said why it has closed before it closed.
  void read_to_end() {
    while (!is_over && !is_paused) {
      if (!read_some()) end(write_failure);
    }
  }

  void set_paused(bool paused) {
    if (std::exchange(is_paused, paused) == paused || !is_open || is_over || paused) return;
    await_bytes();
    if (is_broken) read_to_end_soon();
  }

  bool is_quiet() {
    if (!is_open || is_broken) return false;
    char byte = 0;
    return recv(native(), &byte, 1, MSG_PEEK) < 0 && WSAGetLastError() == WSAEWOULDBLOCK;
  }

  std::string take_arrived() {
    if (!is_open || is_broken) return {};
    const int count = recv(native(), buffer.get(), int{limits::kTcpReadMax}, 0);
    return count > 0 ? std::string(buffer.get(), static_cast<std::size_t>(count)) : std::string();
  }

  // ---- writing

  void write(std::string_view bytes) {
    if (!is_open || is_broken) return;
    if (queued() == 0) bytes.remove_prefix(send_some(bytes));
    if (bytes.empty() || is_broken) return;
    queue.append(bytes);
    if (sending.empty()) send_queue();
  }

  std::size_t queued() const { return sending.size() - sent + queue.size(); }

  /// One try. A socket that takes less than all of it is full.
  std::size_t send_some(std::string_view bytes) {
    const auto size = static_cast<int>(std::min(bytes.size(), kSendMax));
    const int count = send(native(), bytes.data(), size, 0);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (WSAGetLastError() != WSAEWOULDBLOCK) become_broken(WSAGetLastError());
    return 0;
  }

  void send_queue() {
    sending = std::exchange(queue, {});
    sent = 0;
    send_rest();
  }

  void send_rest() {
    const auto rest = boost::asio::buffer(std::string_view(sending).substr(sent));
    socket.async_write_some(rest, [self = shared_from_this()](error_code error, std::size_t count) {
      if (!self->is_over && !self->is_broken) self->on_sent(error, count);
    });
  }

  void on_sent(error_code error, std::size_t count) {
    if (error) return become_broken(error.value());
    sent += count;
    if (sent < sending.size()) return send_rest();
    // An assignment would keep the memory.
    std::string().swap(sending);
    sent = 0;
    if (!queue.empty()) send_queue();
  }

  /// What is being sent stays where it is: the system may still read it.
  void become_broken(int error) {
    is_broken = true;
    write_failure = broken_by(error);
    sent = sending.size();
    std::string().swap(queue);
    if (!is_paused) read_to_end_soon();
  }

  void read_to_end_soon() {
    loop.post([self = shared_from_this()] { self->read_to_end(); });
  }

  std::string broken_by(int error) const {
    return attempts.broken_by(windows::error_text(static_cast<DWORD>(error)));
  }

  // ---- the end

  void end(std::string reason) {
    close();
    events.on_closed(std::move(reason));
  }

  void close() {
    is_over = true;
    resolver.reset();
    limit.cancel();
    error_code ignored;  // the socket is closed in any case
    socket.close(ignored);
  }

  /// The system keeps what it has taken, so a large text goes in pieces.
  static constexpr std::size_t kSendMax = limits::kMiB;

  EventLoop& loop;
  Options options;
  std::uint16_t port;
  Events events;

  std::optional<Resolver> resolver;
  TcpAttempts attempts;
  Timer limit;

  tcp::socket socket;
  std::unique_ptr<char[]> buffer;
  std::string sending;   // under way
  std::size_t sent = 0;  // bytes of it
  std::string queue;     // what follows
  std::string write_failure;
  bool is_open = false;
  bool is_paused = false;
  bool is_awaiting = false;
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
std::size_t TcpStream::queued() const { return state_->queued(); }
void TcpStream::set_paused(bool paused) { state_->set_paused(paused); }
bool TcpStream::is_quiet() { return state_->is_quiet(); }

std::string TcpStream::take_arrived() { return state_->take_arrived(); }

ListenerId TcpStream::listener() {
  const auto peer = name_of(state_->native(), getpeername);
  return peer ? listener_at({peer->address(), peer->port()}) : kNoListener;
}

bool is_connected_to_itself(std::intptr_t socket) {
  const auto handle = static_cast<SOCKET>(socket);
  const auto near_end = name_of(handle, getsockname);
  return near_end && near_end == name_of(handle, getpeername);
}

}  // namespace sitter
