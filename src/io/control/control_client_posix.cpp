#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/system/error_code.hpp>
#include <charconv>
#include <chrono>
#include <istream>
#include <utility>

#include "io/control/control_client.hpp"
#include "io/control/control_folder.hpp"
#include "io/control/local_socket.hpp"

namespace sitter {
namespace {

using boost::asio::local::stream_protocol;

/// A stopped bridge never answers, and a busy bridge answers soon.
constexpr std::chrono::seconds kHelloWait{2};

/// 0 if the name of the file is not a pid.
long pid_of(const std::string& socket) {
  const std::size_t begin = socket.rfind('/') + 1;
  long pid = 0;
  std::from_chars(socket.data() + begin, socket.data() + socket.size(), pid);
  return pid;
}

}  // namespace

struct ControlClient::Connection {
  stream_protocol::iostream stream;
  long pid = 0;
  std::string hello;
};

std::vector<ControlClient> ControlClient::connect_to_all() {
  std::vector<ControlClient> clients;
  for (const std::string& socket : control_sockets()) {
    auto connection = std::make_unique<Connection>();
    connection->pid = pid_of(socket);
    connection->stream.expires_after(kHelloWait);
    connection->stream.connect(stream_protocol::endpoint(socket));
    if (connection->stream.error() == boost::asio::error::connection_refused) {
      // A bridge that is about to listen refuses connections too.
      if (kill(static_cast<pid_t>(connection->pid), 0) != 0) remove_control_file(socket);
      continue;
    }
    std::getline(connection->stream, connection->hello);
    connection->stream.expires_at(std::chrono::steady_clock::time_point::max());
    clients.push_back(ControlClient(std::move(connection)));
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

std::optional<std::string> ControlClient::ask(const std::string& line) {
  connection_->stream << line << '\n' << std::flush;
  return next_line();
}

std::optional<std::string> ControlClient::next_line() {
  std::string line;
  if (!std::getline(connection_->stream, line)) return std::nullopt;
  return line;
}

FileDescriptor ask_to_end_server(long bridge) {
  const std::string line =
      fmt::format(R"json({{"command":"kill","arguments":{{"scope":"child"}},"by":{}}})json"
                  "\n",
                  getpid());
  for (const std::string& socket : control_sockets()) {
    if (pid_of(socket) != bridge) continue;
    FileDescriptor connection = connect_to_socket(socket);
    if (!connection.is_open()) continue;
    const ssize_t written = write(connection.number(), line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) return connection;
  }
  return {};
}

}  // namespace sitter
