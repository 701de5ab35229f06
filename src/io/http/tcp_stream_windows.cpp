#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

#include "io/http/tcp_address.hpp"
#include "io/http/tcp_stream_state.hpp"
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

/// The system keeps what it has taken, so a large text goes in pieces.
constexpr std::size_t kSendMax = limits::kMiB;

/// Windows repeats a refused connection for 2 s. On this machine, no packet gets lost, and nobody
/// should wait (SIO_TCP_INITIAL_RTO).
void refuse_at_once(SOCKET socket) {
  TCP_INITIAL_RTO_PARAMETERS once{TCP_INITIAL_RTO_UNSPECIFIED_RTT,
                                  TCP_INITIAL_RTO_NO_SYN_RETRANSMISSIONS};
  DWORD ignored = 0;
  WSAIoctl(socket, SIO_TCP_INITIAL_RTO, &once, sizeof once, nullptr, 0, &ignored, nullptr, nullptr);
}

struct Socket final : TcpStream::State {
  Socket(EventLoop& of, TcpStream::Options chosen, std::uint16_t at, ByteStream::Events told)
      : State(of, std::move(chosen), at, std::move(told)), socket(of.executor()) {}

  SOCKET native() { return socket.native_handle(); }
  std::intptr_t number() override { return static_cast<std::intptr_t>(native()); }
  std::shared_ptr<Socket> self() { return std::static_pointer_cast<Socket>(shared_from_this()); }

  // ---- connecting

  std::optional<int> try_address() override {
    const tcp::endpoint to(attempts.address().host, attempts.address().port);
    error_code error;
    socket.open(to.protocol(), error);
    if (error) return error.value();
    SetHandleInformation(reinterpret_cast<HANDLE>(native()), HANDLE_FLAG_INHERIT, 0);
    if (to.address().is_loopback()) refuse_at_once(native());
    socket.async_connect(to, [self = self()](const error_code& failed) {
      if (!self->is_over) self->on_connected(failed);
    });
    return {};
  }

  void on_connected(error_code error) {
    // The limit has closed the socket.
    if (!socket.is_open()) error = boost::asio::error::timed_out;
    if (!error && is_connected_to_itself(number())) error = boost::asio::error::connection_refused;
    if (!error) socket.native_non_blocking(true, error);
    on_result(error.value());
  }

  void on_limit() override { stop_waiting(); }

  void stop_waiting() override {
    error_code ignored;  // the socket is closed in any case
    socket.close(ignored);
  }

  void prepare() override {
    set(IPPROTO_TCP, kKeepIdle, static_cast<int>(limits::kTcpSilenceMax.count()));
    set(IPPROTO_TCP, kKeepInterval, static_cast<int>(limits::kTcpQuestionInterval.count()));
    set(IPPROTO_TCP, kKeepCount, limits::kTcpQuestionsMax);
  }

  // ---- reading

  /// Waits until there is something to read. A read that is under way would take bytes away from
  /// `is_quiet` and `take_arrived`, so this one has no room for any.
  void start_reading() override {
    if (is_over || is_paused || std::exchange(is_awaiting, true)) return;
    socket.async_wait(tcp::socket::wait_read, [self = self()](const error_code&) {
      self->is_awaiting = false;
      if (self->is_over || self->is_paused) return;
      self->read_some();
      self->start_reading();
    });
  }

  void stop_reading() override {}

  bool read_some() override {
    const int count = recv(native(), buffer.get(), int{limits::kTcpReadMax}, 0);
    if (count < 0 && WSAGetLastError() == WSAEWOULDBLOCK) return false;
    const auto kept = self();
    if (count > 0) {
      events.on_bytes({buffer.get(), static_cast<std::size_t>(count)});
    } else {
      end(count == 0 ? write_failure : broken_by(WSAGetLastError()));
    }
    return true;
  }

  bool is_quiet() override {
    if (!is_open || is_broken) return false;
    char byte = 0;
    return recv(native(), &byte, 1, MSG_PEEK) < 0 && WSAGetLastError() == WSAEWOULDBLOCK;
  }

  std::string take_arrived() override {
    if (!is_open || is_broken) return {};
    const int count = recv(native(), buffer.get(), int{limits::kTcpReadMax}, 0);
    return count > 0 ? std::string(buffer.get(), static_cast<std::size_t>(count)) : std::string();
  }

  // ---- writing

  std::size_t queued() const override { return sending.size() - sent + queue.size(); }

  std::size_t send_some(std::string_view bytes) override {
    const auto size = static_cast<int>(std::min(bytes.size(), kSendMax));
    const int count = send(native(), bytes.data(), size, 0);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (WSAGetLastError() != WSAEWOULDBLOCK) become_broken(WSAGetLastError());
    return 0;
  }

  void send_later() override {
    if (!sending.empty() || queue.empty()) return;
    sending = std::exchange(queue, {});
    sent = 0;
    send_rest();
  }

  void send_rest() {
    const auto rest = boost::asio::buffer(std::string_view(sending).substr(sent));
    socket.async_write_some(rest, [self = self()](const error_code& error, std::size_t count) {
      if (!self->is_over && !self->is_broken) self->on_sent(error, count);
    });
  }

  void on_sent(const error_code& error, std::size_t count) {
    if (error) return become_broken(error.value());
    sent += count;
    if (sent < sending.size()) return send_rest();
    // An assignment would keep the memory.
    std::string().swap(sending);
    sent = 0;
    send_later();
  }

  /// What is being sent stays where it is: the system may still read it.
  void drop_queue() override {
    sent = sending.size();
    std::string().swap(queue);
  }

  void close_socket() override { stop_waiting(); }

  tcp::socket socket;
  std::string sending;   // under way
  std::size_t sent = 0;  // bytes of it
  bool is_awaiting = false;
};

}  // namespace

std::shared_ptr<TcpStream::State> TcpStream::State::make(EventLoop& loop, Options options,
                                                         std::uint16_t port, Events events) {
  return std::make_shared<Socket>(loop, std::move(options), port, std::move(events));
}

}  // namespace sitter
