#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "io/control/control_client.hpp"
#include "io/control/control_folder.hpp"
#include "io/control/local_socket.hpp"
#include "sitter/bytes.hpp"

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
  /// Whether the socket is ready before this time. Without a time, waits for ever.
  bool waits_for(short what, std::optional<Instant> by) const {
    int left = -1;
    if (by) {
      const auto rest = std::chrono::ceil<Milliseconds>(*by - Instant::clock::now());
      left = static_cast<int>(std::max<std::int64_t>(rest.count(), 0));
    }
    pollfd seen{socket.number(), what, 0};
    int count = 0;
    do {
      count = poll(&seen, 1, left);
    } while (count < 0 && errno == EINTR);
    return count > 0;
  }

  bool write_all(std::string_view text, std::optional<Instant> by) const {
    while (!text.empty() && waits_for(POLLOUT, by)) {
      const ssize_t count = send(socket.number(), text.data(), text.size(), MSG_NOSIGNAL);
      if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
      text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    return text.empty();
  }

  std::optional<std::string> next_line(std::optional<Instant> by) {
    std::size_t end = read_ahead.find('\n');
    while (end == std::string::npos) {
      if (!waits_for(POLLIN, by)) return std::nullopt;
      std::array<char, 16 * limits::kKiB> bytes;
      const ssize_t count = read(socket.number(), bytes.data(), bytes.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return std::nullopt;
      const std::string_view piece(bytes.data(), static_cast<std::size_t>(count));
      end = piece.find('\n');
      if (end != std::string::npos) end += read_ahead.size();
      read_ahead += piece;
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
    connection->socket = connect_to_socket(socket);
    if (!connection->socket.is_open()) {
      const int error = errno;
      // A bridge that is about to listen refuses connections too.
      const bool is_gone = kill(static_cast<pid_t>(connection->pid), 0) != 0;
      if (error == ECONNREFUSED && is_gone) remove_control_file(socket);
      // Too many connections wait already.
      if (error != EAGAIN) continue;
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
  if (!connection_->write_all(line + '\n', by)) return std::nullopt;
  return next_line(by);
}

std::optional<std::string> ControlClient::next_line(std::optional<Instant> by) {
  return connection_->next_line(by);
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
