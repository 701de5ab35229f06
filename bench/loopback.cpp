#include "loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "program.hpp"

namespace sitter::bench {
namespace {

sockaddr_in address_of(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

int open_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

}  // namespace

int listen_at(std::uint16_t& port) {
  const int listener = open_socket();
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = address_of(port);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, any, size) != 0 || listen(listener, SOMAXCONN) != 0) die("no port");
  getsockname(listener, any, &size);
  port = ntohs(address.sin_port);
  return listener;
}

int connect_to(std::uint16_t port) {
  const int opened = open_socket();
  const sockaddr_in address = address_of(port);
  if (connect(opened, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die("the daemon does not listen");
  }
  send_at_once(opened);
  return opened;
}

void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace sitter::bench
