#include "io/control/control_server.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "io/control/local_listener.hpp"
#include "io/system/file_descriptor.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// Connections of `mcp-sitter ctl`, which are from people and scripts of one user. The last bound
/// is for bytes that wait for a connection that does not read: twice the longest answer, which is a
/// whole stderr ring.
constexpr std::size_t kControlConnectionsMax = 64;
constexpr std::size_t kControlQueueMax = 4 * limits::kMiB;

/// How many files a new connection leaves for the server. A start takes nine.
constexpr std::size_t kControlFilesLeft = 10;

}  // namespace

/// Callbacks share this object, so that it outlives them.
class ControlServer::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(EventLoop& loop, std::string hello, Events events)
      : loop_(loop), hello_(std::move(hello)), events_(std::move(events)) {}

  /// Empty, or the reason why it does not listen.
  std::string listen() {
    std::string error;
    listener_ = LocalListener::open(
        loop_, [this](LocalConnection connection) { take(std::move(connection)); }, error);
    return error;
  }

  void stop() {
    listener_.reset();
    connections_.clear();
    events_ = {};
  }

  void send(ControlId id, const std::string& line) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    std::string& output = found->second.output;
    if (output.size() > kControlQueueMax) {
      // The connection is closed later, since the caller may still use it.
      loop_.post([self = shared_from_this(), id] { self->close(id); });
      return;
    }
    output += line;
    output += '\n';
    if (!found->second.is_waiting) write(id);
  }

 private:
  struct Connection {
    LocalConnection stream;
    std::string output = {};
    /// A wait for room to write is pending.
    bool is_waiting = false;
  };

  void take(LocalConnection connection) {
    if (connections_.size() >= kControlConnectionsMax || !may_open_files(kControlFilesLeft)) return;
    const ControlId id = ++last_id_;
    connections_.emplace(id, Connection{std::move(connection)});
    send(id, hello_);
    read(id);
  }

  void read(ControlId id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    found->second.stream.read_line(
        [self = shared_from_this(), id](const std::optional<std::string>& line) {
          if (!line) {
            self->close(id);
            return;
          }
          self->events_.on_line(id, *line);
          self->read(id);
        });
  }

  void write(ControlId id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection& connection = found->second;
    connection.is_waiting = connection.stream.write(
        connection.output,
        [self = shared_from_this(), id](bool is_open) { self->on_ready(id, is_open); });
  }

  void on_ready(ControlId id, bool is_open) {
    if (!is_open) {
      close(id);
      return;
    }
    write(id);
  }

  void close(ControlId id) {
    if (connections_.erase(id) > 0 && events_.on_closed) events_.on_closed(id);
  }

  EventLoop& loop_;
  std::string hello_;
  Events events_;
  std::unique_ptr<LocalListener> listener_;
  std::map<ControlId, Connection> connections_;
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
