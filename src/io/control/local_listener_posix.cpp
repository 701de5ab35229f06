#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

#include "io/control/control_folder.hpp"
#include "io/control/local_listener.hpp"
#include "io/control/local_socket.hpp"
#include "io/stream/timer.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr int kBindTries = 3;

}  // namespace

/// Pending waits share this object, so that it outlives them.
struct LocalConnection::State : std::enable_shared_from_this<State> {
  State(EventLoop& of, stream_protocol::socket accepted) : loop(of), socket(std::move(accepted)) {}

  EventLoop& loop;
  stream_protocol::socket socket;
  std::string input;
};

LocalConnection::LocalConnection(std::shared_ptr<State> state) : state_(std::move(state)) {}
LocalConnection::LocalConnection(LocalConnection&&) noexcept = default;
LocalConnection::~LocalConnection() {
  error_code ignored;  // the descriptor is closed in any case
  if (state_) state_->socket.close(ignored);
}

void LocalConnection::read_line(std::function<void(std::optional<std::string>)> on_line) {
  boost::asio::async_read_until(
      state_->socket, boost::asio::dynamic_buffer(state_->input, limits::kControlLineMax), '\n',
      [state = state_, on_line = std::move(on_line)](const error_code&, std::size_t size) {
        if (state->socket.is_open()) on_line(taken_line(state->input, size));
      });
}

// An asynchronous write of Asio may complete at once, and its handler would then wait for the next
// event of the loop.
bool LocalConnection::write(std::string& text, std::function<void(bool)> on_ready) {
  error_code error;
  while (!text.empty() && !error) {
    text.erase(0, state_->socket.write_some(boost::asio::buffer(text), error));
  }
  if (text.empty()) return false;
  if (error != boost::asio::error::would_block) {
    state_->loop.post([state = state_, on_ready = std::move(on_ready)] {
      if (state->socket.is_open()) on_ready(false);
    });
    return true;
  }
  state_->socket.async_wait(stream_protocol::socket::wait_write,
                            [state = state_, on_ready = std::move(on_ready)](error_code) {
                              if (state->socket.is_open()) on_ready(true);
                            });
  return true;
}

struct LocalListener::State : std::enable_shared_from_this<State> {
  State(EventLoop& of, OnConnected told)
      : loop(of),
        on_connected(std::move(told)),
        acceptor(loop.io()),
        pause(loop, [this] { accept(); }) {}

  /// Empty, or the reason why it does not listen.
  std::string listen() {
    path = control_socket();
    error_code error;
    for (int i = 0; i < kBindTries; ++i) {
      if (std::string complaint = prepare_control_folder(); !complaint.empty()) return complaint;
      remove_if_dead();
      error = bind();
      // Another bridge that ended may have removed the folder in the meantime.
      if (error != boost::system::errc::no_such_file_or_directory) break;
    }
    if (error) return fmt::format("{}: {}", path, error.message());
    accept();
    return {};
  }

  void stop() {
    error_code ignored;
    acceptor.close(ignored);
    pause.cancel();
    remove_control_file(path);
  }

  error_code bind() {
    FileDescriptor socket = listen_at_socket(path);
    if (!socket.is_open()) return {errno, boost::system::system_category()};
    error_code error;
    acceptor.assign(stream_protocol(), socket.release(), error);
    return error;
  }

  /// Removes the socket of an earlier bridge that had our pid and was killed together with its
  /// keeper.
  void remove_if_dead() const {
    NoConnection why = NoConnection::fails;
    const FileDescriptor other = connect_to_socket(path, &why);
    if (why == NoConnection::nobody_listens) unlink(path.c_str());
  }

  void accept() {
    acceptor.async_accept(
        [self = shared_from_this()](error_code error, stream_protocol::socket socket) {
          if (!self->acceptor.is_open()) return;
          if (error) {
            self->accept_later();
            return;
          }
          self->take(std::move(socket));
          if (self->acceptor.is_open()) self->accept();
        });
  }

  /// There are no free descriptors, but the connection still waits.
  void accept_later() { pause.set(Instant::clock::now() + kAcceptPause); }

  void take(stream_protocol::socket socket) {
    error_code error;
    socket.non_blocking(true, error);
    if (error || !platform::is_own_peer(socket.native_handle())) return;
    on_connected(
        LocalConnection(std::make_shared<LocalConnection::State>(loop, std::move(socket))));
  }

  EventLoop& loop;
  OnConnected on_connected;
  stream_protocol::acceptor acceptor;
  Timer pause;
  std::string path;
};

std::unique_ptr<LocalListener> LocalListener::open(EventLoop& loop, OnConnected on_connected,
                                                   std::string& error) {
  auto state = std::make_shared<State>(loop, std::move(on_connected));
  error = state->listen();
  if (!error.empty()) return nullptr;
  return std::unique_ptr<LocalListener>(new LocalListener(std::move(state)));
}

LocalListener::LocalListener(std::shared_ptr<State> state) : state_(std::move(state)) {}
LocalListener::~LocalListener() { state_->stop(); }

}  // namespace sitter
