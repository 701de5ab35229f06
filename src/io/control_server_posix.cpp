#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <istream>
#include <map>
#include <utility>

#include "platform.hpp"
#include "sitter/core/limits.hpp"
#include "sitter/io/control_folder.hpp"
#include "sitter/io/control_server.hpp"

namespace sitter {
namespace {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

}  // namespace

/// Shared with the waits that are under way.
class ControlServer::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(EventLoop& loop, std::string hello, Events events)
      : hello_(std::move(hello)), events_(std::move(events)), acceptor_(loop.io()) {}

  /// Empty, or why it does not listen.
  std::string listen() {
    if (std::string complaint = prepare_control_folder(); !complaint.empty()) return complaint;
    path_ = control_socket();
    // Of a bridge that had our pid and was killed together with its keeper.
    unlink(path_.c_str());
    try {
      acceptor_.open(stream_protocol());
      // A path that is too long for the system is refused here.
      acceptor_.bind(stream_protocol::endpoint(path_));
      chmod(path_.c_str(), S_IRUSR | S_IWUSR);
      acceptor_.listen();
    } catch (const boost::system::system_error& failure) {
      return fmt::format("{}: {}", path_, failure.code().message());
    }
    accept();
    return {};
  }

  void stop() {
    error_code ignored;
    acceptor_.close(ignored);
    unlink(path_.c_str());
    for (auto& [id, connection] : connections_) {
      // What is sent at the very end goes out as far as it can.
      if (!connection->output.empty()) {
        connection->socket.write_some(boost::asio::buffer(connection->output), ignored);
      }
      connection->socket.close(ignored);
    }
    connections_.clear();
    events_ = {};
  }

  void send(ControlId id, std::string line) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    if (connection.output.size() + connection.writing.size() > limits::kControlQueueMax) {
      // Not at once, since whoever sends has not finished.
      boost::asio::post(acceptor_.get_executor(),
                        [self = shared_from_this(), id] { self->close(id); });
      return;
    }
    connection.output += line;
    connection.output += '\n';
    write(id);
  }

 private:
  struct Connection {
    explicit Connection(stream_protocol::socket accepted)
        : socket(std::move(accepted)), input(limits::kControlLineMax) {}

    stream_protocol::socket socket;
    boost::asio::streambuf input;
    std::string output;
    std::string writing;
  };

  void accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](error_code error, stream_protocol::socket socket) {
          if (!self->acceptor_.is_open()) return;
          if (!error) self->take(std::move(socket));
          self->accept();
        });
  }

  void take(stream_protocol::socket socket) {
    const bool has_room = connections_.size() < limits::kControlConnectionsMax;
    if (!has_room || !platform::is_own_peer(socket.native_handle())) return;
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
          if (self->events_.on_line) self->events_.on_line(id, line);
          self->read(id);
        });
  }

  void write(ControlId id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    const auto connection = found->second;
    if (!connection->writing.empty() || connection->output.empty()) return;
    connection->writing = std::exchange(connection->output, {});
    boost::asio::async_write(
        connection->socket, boost::asio::buffer(connection->writing),
        [self = shared_from_this(), connection, id](error_code error, std::size_t) {
          connection->writing.clear();
          if (error) {
            self->close(id);
          } else {
            self->write(id);
          }
        });
  }

  void close(ControlId id) {
    if (connections_.erase(id) > 0 && events_.on_closed) events_.on_closed(id);
  }

  std::string hello_;
  Events events_;
  stream_protocol::acceptor acceptor_;
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
void ControlServer::send(ControlId connection, std::string line) {
  listener_->send(connection, std::move(line));
}

}  // namespace sitter
