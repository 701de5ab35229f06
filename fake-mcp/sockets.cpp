#include "sockets.hpp"

namespace sitter::fake {

bool send_all(Socket socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send_some(socket, bytes);
    if (!sent) return false;
    bytes.remove_prefix(*sent);
    if (*sent > 0) continue;
    std::vector<SocketWait> full = {{.socket = socket, .writes = true}};
    wait_for(full, std::nullopt);
  }
  return true;
}

}  // namespace sitter::fake
