#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "io/control/control_folder.hpp"
#include "io/control/other_bridge.hpp"
#include "io/system/platform.hpp"

namespace sitter {
namespace {

FileDescriptor connect_to(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, socket.data(), socket.size());
  FileDescriptor connection(::socket(AF_UNIX, SOCK_STREAM, 0));
  if (!connection.is_open() || fcntl(connection.number(), F_SETFD, FD_CLOEXEC) != 0 ||
      fcntl(connection.number(), F_SETFL, O_NONBLOCK) != 0 ||
      connect(connection.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
          0 ||
      !platform::is_own_peer(connection.number())) {
    return {};
  }
  return connection;
}

}  // namespace

FileDescriptor ask_to_end_server(long bridge) {
  const std::string line =
      fmt::format(R"json({{"command":"kill","arguments":{{"scope":"child"}},"by":{}}})json"
                  "\n",
                  getpid());
  for (const std::string& socket : control_sockets()) {
    if (!socket.ends_with(fmt::format("/{}.sock", bridge))) continue;
    FileDescriptor connection = connect_to(socket);
    if (!connection.is_open()) continue;
    const ssize_t written = write(connection.number(), line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) return connection;
  }
  return {};
}

}  // namespace sitter
