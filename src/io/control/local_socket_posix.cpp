#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "io/control/local_socket.hpp"
#include "io/system/posix.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

FileDescriptor open_socket() {
  FileDescriptor opened(socket(AF_UNIX, SOCK_STREAM, 0));
  if (opened.is_open() && (fcntl(opened.number(), F_SETFD, FD_CLOEXEC) != 0 ||
                           fcntl(opened.number(), F_SETFL, O_NONBLOCK) != 0)) {
    opened.close();
  }
  return opened;
}

/// Calls bind or connect. False on failure, also if the path is too long.
template <class Call>
bool call_with_path(Call call, const FileDescriptor& socket, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!socket.is_open()) return false;
  errno = ENAMETOOLONG;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return call(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Whether the connection is ready before this time. Without a time, waits for ever.
bool waits_for(short what, const FileDescriptor& connection, std::optional<Instant> by) {
  int left = -1;
  if (by) {
    const auto rest = std::chrono::ceil<Milliseconds>(*by - Instant::clock::now());
    left = static_cast<int>(std::max<std::int64_t>(rest.count(), 0));
  }
  pollfd seen{connection.number(), what, 0};
  int count = 0;
  do {
    count = poll(&seen, 1, left);
  } while (count < 0 && errno == EINTR);
  return count > 0;
}

}  // namespace

FileDescriptor connect_to_socket(const std::string& path, NoConnection* why) {
  FileDescriptor connection = open_socket();
  if (!call_with_path(connect, connection, path)) {
    if (why != nullptr) {
      *why = errno == ECONNREFUSED ? NoConnection::nobody_listens
             : errno == EAGAIN     ? NoConnection::is_busy
                                   : NoConnection::fails;
    }
    return {};
  }
  if (!platform::is_own_peer(connection.number())) return {};
  return connection;
}

FileDescriptor listen_at_socket(const std::string& path) {
  FileDescriptor listener = open_socket();
  const mode_t before = umask(~static_cast<mode_t>(S_IRUSR | S_IWUSR) & 0777);
  const bool is_bound = call_with_path(bind, listener, path);
  umask(before);
  if (!is_bound || listen(listener.number(), SOMAXCONN) != 0) return {};
  return listener;
}

bool read_some(const FileDescriptor& connection, std::string& text, std::optional<Instant> by) {
  while (waits_for(POLLIN, connection, by)) {
    std::array<char, 16 * limits::kKiB> bytes;
    const ssize_t count = read(connection.number(), bytes.data(), bytes.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
  return false;
}

bool write_all(const FileDescriptor& connection, std::string_view text, std::optional<Instant> by) {
  while (!text.empty() && waits_for(POLLOUT, connection, by)) {
    const ssize_t count = send(connection.number(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return text.empty();
}

}  // namespace sitter
