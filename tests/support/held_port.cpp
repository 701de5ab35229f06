#include "support/held_port.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

namespace sitter::testing {

HeldPort::HeldPort()
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)), other_(::socket(AF_INET, SOCK_STREAM, 0)) {
  for (const OwnDescriptor* end : {&socket_, &other_}) ::fcntl(end->number(), F_SETFD, FD_CLOEXEC);
  const int on = 1;
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_.number(), place, size) != 0 ||
      ::getsockname(socket_.number(), place, &size) != 0) {
    throw std::runtime_error("no port is free");
  }
  number_ = ntohs(address.sin_port);
  // Connected, the socket holds its port, and another socket with SO_REUSEADDR may listen there. On
  // macOS, a port that is only bound refuses both a second socket and an answer to a connection.
  address.sin_port = 0;
  if (::bind(other_.number(), place, size) != 0 || ::listen(other_.number(), 1) != 0 ||
      ::getsockname(other_.number(), place, &size) != 0 ||
      ::connect(socket_.number(), place, size) != 0) {
    throw std::runtime_error("no port can be held");
  }
}

std::string HeldPort::url() const { return "http://127.0.0.1:" + std::to_string(number_) + "/mcp"; }

}  // namespace sitter::testing
