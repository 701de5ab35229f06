#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <istream>
#include <map>
#include <utility>

#include "io/control/control_folder.hpp"
#include "io/control/control_server.hpp"
#include "io/control/local_socket.hpp"
#include "io/stream/timer.hpp"
#include "io/system/posix.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// Connections of `mcp-sitter ctl`, which are from people and scripts of one user and send short
/// requests. The last bound is for bytes that wait for a connection that does not read: twice the
/// longest answer, which is a whole stderr ring.
constexpr std::size_t kControlConnectionsMax = 64;
constexpr std::size_t kControlLineMax = 64 * limits::kKiB;
constexpr std::size_t kControlQueueMax = 4 * limits::kMiB;

/// How many files a new connection leaves for the server. A start takes nine.
constexpr std::size_t kControlFilesLeft = 10;

using boost::asio::local::stream_protocol;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr int kBindTries = 3;

}  // namespace

/// Pending waits share this object, so that it outlives them.
class ControlServer::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(EventLoop& loop, std::string hello, Events events)
      : loop_(loop),
        hello_(std::move(hello)),
        events_(std::move(events)),
        acceptor_(loop.io()),
        pause_(loop, [this] { accept(); }) {}

  /// Empty, or the reason why it does not listen.
  std::string listen() {
    path_ = control_socket();
    error_code error;
    for (int i = 0; i < kBindTries; ++i) {
      if (std::string complaint = prepare_control_folder(); !complaint.empty()) return complaint;
      remove_if_dead();
      error = bind();
      // Another bridge that ended may have removed the folder in the meantime.
      if (error != boost::system::errc::no_such_file_or_directory) break;
    }
    if (error) return fmt::format("{}: {}", path_, error.message());
    accept();
    return {};
  }

  void stop() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    remove_control_file(path_);
    for (auto& [id, connection] : connections_) connection->socket.close(ignored);
    connections_.clear();
    events_ = {};
  }

  void send(ControlId id, const std::string& line) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    std::string& output = found->second->output;
    if (output.size() > kControlQueueMax) {
      // The connection is closed later, since the caller may still use it.
      loop_.post([self = shared_from_this(), id] { self->close(id); });
      return;
    }
    output += line;
    output += '\n';
    if (!found->second->is_waiting) write(id);
  }

 private:
  struct Connection {
    explicit Connection(stream_protocol::socket accepted)
        : socket(std::move(accepted)), input(kControlLineMax) {}

    stream_protocol::socket socket;
    boost::asio::streambuf input;
    std::string output;
    /// A wait for room to write is pending.
    bool is_waiting = false;
  };

  error_code bind() {
    FileDescriptor socket = listen_at_socket(path_);
    if (!socket.is_open()) return {errno, boost::system::system_category()};
    error_code error;
    acceptor_.assign(stream_protocol(), socket.release(), error);
    return error;
  }

  /// Removes the socket of an earlier bridge that had our pid and was killed together with its
  /// keeper.
  void remove_if_dead() {
    stream_protocol::socket other(loop_.io());
    error_code error;
    other.connect(stream_protocol::endpoint(path_), error);
    if (error == boost::asio::error::connection_refused) unlink(path_.c_str());
  }

  void accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](error_code error, stream_protocol::socket socket) {
          if (!self->acceptor_.is_open()) return;
          if (error) {
            self->accept_later();
            return;
          }
          self->take(std::move(socket));
          self->accept();
        });
  }

  /// There are no free descriptors, but the connection still waits.
  void accept_later() { pause_.set(Instant::clock::now() + kAcceptPause); }

  void take(stream_protocol::socket socket) {
    error_code error;
    socket.non_blocking(true, error);
    const bool has_room =
        connections_.size() < kControlConnectionsMax && may_open_files(kControlFilesLeft);
    if (error || !has_room || !platform::is_own_peer(socket.native_handle())) return;
    const ControlId id = ++last_id_;
    connections_.emplace(id, std::make_shared<Connection>(std::move(socket)));
    send(id, hello_);
    read(id);
  }

  void read(ControlId id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    const auto connection = found->second;
    boost::asio::async_read_until(
        connection->socket, connection->input, '\n',
        [self = shared_from_this(), connection, id](error_code error, std::size_t size) {
          if (error) {
            self->close(id);
            return;
          }
          std::string line(size, '\0');
          std::istream(&connection->input).read(line.data(), static_cast<std::streamsize>(size));
          line.pop_back();
          if (self->connections_.contains(id)) self->events_.on_line(id, line);
          self->read(id);
        });
  }

  /// Writes without waiting. An asynchronous write of Asio may complete at once, and its handler
  /// would then wait for the next event of the loop.
  void write(ControlId id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    const auto connection = found->second;
    std::string& output = connection->output;
    error_code error;
    while (!output.empty() && !error) {
      output.erase(0, connection->socket.write_some(boost::asio::buffer(output), error));
    }
    if (output.empty()) return;
    if (error != boost::asio::error::would_block) {
      loop_.post([self = shared_from_this(), id] { self->close(id); });
      return;
    }
    connection->is_waiting = true;
    connection->socket.async_wait(stream_protocol::socket::wait_write,
                                  [self = shared_from_this(), connection, id](error_code) {
                                    connection->is_waiting = false;
                                    self->write(id);
                                  });
  }

  void close(ControlId id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    error_code ignored;
    found->second->socket.close(ignored);
    connections_.erase(found);
    if (events_.on_closed) events_.on_closed(id);
  }

  EventLoop& loop_;
  std::string hello_;
  Events events_;
  stream_protocol::acceptor acceptor_;
  Timer pause_;
  std::string path_;
  std::map<ControlId, std::shared_ptr<Connection>> connections_;
  ControlId last_id_ = 0;
};

std::unique_ptr<ControlServer> ControlServer::open(EventLoop& loop, std::string hello,
                                                   Events events, std::string& error) {
  auto listener = std::make_shared<Listener>(loop, std::move(hello), std::move(events));
  error = listener->listen();
  if (!error.empty()) return nullptr;
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(listener)));
}

ControlServer::ControlServer(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}
ControlServer::~ControlServer() { listener_->stop(); }
void ControlServer::send(ControlId connection, const std::string& line) {
  listener_->send(connection, line);
}

}  // namespace sitter
