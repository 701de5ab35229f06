#include "io/http/tcp_stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <system_error>
#include <utility>

#include "io/http/listener.hpp"
#include "io/http/tcp_address.hpp"
#include "io/http/tcp_stream_state.hpp"
#include "io/system/error_text.hpp"

namespace sitter {
namespace {

using boost::asio::ip::tcp;

std::optional<tcp::endpoint> name_of(std::intptr_t socket, decltype(getpeername)* ask) {
  tcp::endpoint address;
  auto size = static_cast<socklen_t>(address.capacity());
  const auto number = static_cast<tcp::socket::native_handle_type>(socket);
  if (ask(number, address.data(), &size) != 0) return {};
  address.resize(static_cast<std::size_t>(size));
  return address;
}

std::string text_of(int error) { return error_text({error, std::system_category()}); }

}  // namespace

TcpStream::State::State(EventLoop& of, Options chosen, std::uint16_t at, Events told)
    : loop(of), options(std::move(chosen)), port(at), events(std::move(told)), limit(of, [this] {
        on_limit();
      }) {}

// ---- connecting

void TcpStream::State::look_up(std::string host) {
  resolver.emplace(loop, std::move(options.names), std::move(host),
                   [this](const Resolver::Found& found) { on_found(found); });
}

void TcpStream::State::on_found(const Resolver::Found& found) {
  const auto self = shared_from_this();
  if (found.addresses.empty()) return end(found.reason);
  attempts.begin(found.addresses, port, options.connect_wait);
  try_next();
}

void TcpStream::State::try_next() {
  while (attempts.has_address()) {
    const std::optional<int> result = try_address();
    if (!result) return limit.set(attempts.give_up_at());
    if (*result == 0) return open();
    note_failure(*result);
  }
  end(attempts.failure());
}

void TcpStream::State::on_result(int error) {
  limit.cancel();
  if (error == 0) return open();
  note_failure(error);
  try_next();
}

void TcpStream::State::note_failure(int error) {
  stop_waiting();
  if (error == boost::asio::error::connection_refused) {
    attempts.note_refusal();
  } else if (error == boost::asio::error::timed_out) {
    attempts.note_silence();
  } else {
    attempts.note_failure(text_of(error));
  }
}

void TcpStream::State::open() {
  is_open = true;
  prepare();
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  buffer = std::make_unique_for_overwrite<char[]>(limits::kTcpReadMax);
  if (!is_paused) start_reading();
  events.on_opened();
}

void TcpStream::State::set(int level, int name, int value) {
  const auto socket = static_cast<tcp::socket::native_handle_type>(number());
  setsockopt(socket, level, name, reinterpret_cast<const char*>(&value), sizeof value);
}

// ---- reading

void TcpStream::State::set_paused(bool paused) {
  if (std::exchange(is_paused, paused) == paused || !is_open || is_over) return;
  if (paused) return stop_reading();
  start_reading();
  // Not every failure to write ends the connection, so that the system would report it.
  if (is_broken) read_to_end_soon();
}

/// The other side may have said why it has closed before it closed.
void TcpStream::State::read_to_end() {
  while (!is_over && !is_paused) {
    if (!read_some()) end(write_failure);
  }
}

void TcpStream::State::read_to_end_soon() {
  loop.post([self = shared_from_this()] { self->read_to_end(); });
}

// ---- writing

void TcpStream::State::write(std::string_view bytes) {
  if (!is_open || is_broken) return;
  if (queued() == 0) bytes.remove_prefix(send_some(bytes));
  if (bytes.empty() || is_broken) return;
  queue.append(bytes);
  send_later();
}

void TcpStream::State::become_broken(int error) {
  is_broken = true;
  write_failure = broken_by(error);
  drop_queue();
  if (!is_paused) read_to_end_soon();
}

std::string TcpStream::State::broken_by(int error) const {
  return attempts.broken_by(text_of(error));
}

// ---- the end

void TcpStream::State::end(std::string reason) {
  close();
  events.on_closed(std::move(reason));
}

void TcpStream::State::close() {
  is_over = true;
  resolver.reset();
  limit.cancel();
  close_socket();
}

TcpStream::TcpStream(EventLoop& loop, Options options, std::string host, std::uint16_t port,
                     Events events)
    : state_(State::make(loop, std::move(options), port, std::move(events))) {
  state_->look_up(std::move(host));
}

TcpStream::~TcpStream() { state_->close(); }

void TcpStream::write(std::string_view bytes) { state_->write(bytes); }
std::size_t TcpStream::queued() const { return state_->queued(); }
void TcpStream::set_paused(bool paused) { state_->set_paused(paused); }
bool TcpStream::is_quiet() { return state_->is_quiet(); }
std::string TcpStream::take_arrived() { return state_->take_arrived(); }

ListenerId TcpStream::listener() {
  const auto peer = name_of(state_->number(), getpeername);
  return peer ? listener_at({peer->address(), peer->port()}) : kNoListener;
}

bool is_connected_to_itself(std::intptr_t socket) {
  const auto near_end = name_of(socket, getsockname);
  return near_end && near_end == name_of(socket, getpeername);
}

}  // namespace sitter
