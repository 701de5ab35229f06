#include "io/control/control_client.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <utility>

#include "io/control/control_folder.hpp"
#include "io/control/local_socket.hpp"
#include "io/system/platform.hpp"

namespace sitter {
namespace {

/// 0 if the name of the file is not a pid.
long pid_of(const std::string& socket) {
  const std::size_t begin = socket.rfind('/') + 1;
  long pid = 0;
  std::from_chars(socket.data() + begin, socket.data() + socket.size(), pid);
  return pid;
}

}  // namespace

struct ControlClient::Connection {
  std::optional<std::string> next_line(std::optional<Instant> by) {
    std::size_t end = read_ahead.find('\n');
    while (end == std::string::npos) {
      const std::size_t before = read_ahead.size();
      if (!read_some(socket, read_ahead, by)) return std::nullopt;
      end = read_ahead.find('\n', before);
    }
    std::string line = read_ahead.substr(0, end);
    read_ahead.erase(0, end + 1);
    return line;
  }

  FileDescriptor socket;
  long pid = 0;
  std::string hello;
  /// What came behind the last line.
  std::string read_ahead;
};

std::vector<ControlClient> ControlClient::connect_to_all(Instant by) {
  std::vector<ControlClient> clients;
  for (const std::string& socket : control_sockets()) {
    auto connection = std::make_unique<Connection>();
    connection->pid = pid_of(socket);
    NoConnection why = NoConnection::fails;
    connection->socket = connect_to_socket(socket, &why);
    if (!connection->socket.is_open()) {
      // A bridge that is about to listen refuses connections too.
      const bool is_gone = !platform::has_own_process(connection->pid);
      if (why == NoConnection::nobody_listens && is_gone) remove_control_file(socket);
      if (why != NoConnection::is_busy) continue;
    }
    clients.push_back(ControlClient(std::move(connection)));
  }
  for (ControlClient& client : clients) {
    Connection& connection = *client.connection_;
    if (connection.socket.is_open()) connection.hello = connection.next_line(by).value_or("");
  }
  return clients;
}

ControlClient::ControlClient(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
ControlClient::ControlClient(ControlClient&&) noexcept = default;
ControlClient& ControlClient::operator=(ControlClient&&) noexcept = default;
ControlClient::~ControlClient() = default;

long ControlClient::pid() const { return connection_->pid; }
const std::string& ControlClient::hello() const { return connection_->hello; }

std::optional<std::string> ControlClient::ask(const std::string& line, std::optional<Instant> by) {
  if (!write_all(connection_->socket, line + '\n', by)) return std::nullopt;
  return next_line(by);
}

std::optional<std::string> ControlClient::next_line(std::optional<Instant> by) {
  return connection_->next_line(by);
}

FileDescriptor ask_to_end_server(long bridge) {
  const std::string line =
      fmt::format(R"json({{"command":"kill","arguments":{{"scope":"child"}},"by":{}}})json"
                  "\n",
                  platform::own_pid());
  for (const std::string& socket : control_sockets()) {
    if (pid_of(socket) != bridge) continue;
    FileDescriptor connection = connect_to_socket(socket);
    if (!connection.is_open()) continue;
    if (write_all(connection, line, Instant::clock::now())) return connection;
  }
  return {};
}

}  // namespace sitter
