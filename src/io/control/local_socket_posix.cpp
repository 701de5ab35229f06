#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "io/control/local_socket.hpp"
#include "io/system/posix.hpp"

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

}  // namespace

FileDescriptor connect_to_socket(const std::string& path) {
  FileDescriptor connection = open_socket();
  if (!call_with_path(connect, connection, path) || !platform::is_own_peer(connection.number())) {
    return {};
  }
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

}  // namespace sitter
