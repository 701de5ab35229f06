#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "io/control/control_folder.hpp"
#include "io/control/local_socket.hpp"
#include "io/control/other_bridge.hpp"

namespace sitter {

FileDescriptor ask_to_end_server(long bridge) {
  const std::string line =
      fmt::format(R"json({{"command":"kill","arguments":{{"scope":"child"}},"by":{}}})json"
                  "\n",
                  getpid());
  for (const std::string& socket : control_sockets()) {
    if (!socket.ends_with(fmt::format("/{}.sock", bridge))) continue;
    FileDescriptor connection = connect_to_socket(socket);
    if (!connection.is_open()) continue;
    const ssize_t written = write(connection.number(), line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) return connection;
  }
  return {};
}

}  // namespace sitter
