#include "listener.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "process.hpp"

namespace sitter::fake {
namespace {

[[noreturn]] void fail(const std::string& what) {
  say("fake-mcp: " + what);
  std::exit(1);
}

void set_non_blocking(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

int listen_at(const std::string& address, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  const int descriptor = ::socket(found->ai_family, found->ai_socktype, found->ai_protocol);
  // A daemon that starts anew takes the port of its predecessor, whose connections may linger.
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool listens = ::bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 &&
                       ::listen(descriptor, SOMAXCONN) == 0;
  ::freeaddrinfo(found);
  if (listens) return descriptor;
  ::close(descriptor);
  return -1;
}

std::string port_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  char port[NI_MAXSERV];
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, nullptr, 0, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  return port;
}

/// A reader sees the whole file or none.
void write_port(const std::string& file, const std::string& port) {
  const std::string beside = file + '.' + std::to_string(::getpid());
  std::ofstream(beside) << port << '\n';
  if (std::rename(beside.c_str(), file.c_str()) != 0) fail(file + " cannot be written");
}

}  // namespace

Listener::Listener(const HttpOptions& options) {
  const std::string wanted = std::to_string(options.port.value_or(0));
  const bool is_v6 = options.address.find(':') != std::string::npos;
  const std::string host = is_v6 ? '[' + options.address + ']' : options.address;
  descriptor_ = listen_at(options.address, wanted);
  if (!is_open()) fail("cannot listen on " + host + ':' + wanted);
  set_non_blocking(descriptor_);
  const std::string port = port_of(descriptor_);
  if (options.port_file) write_port(*options.port_file, port);
  say("listening on " + host + ':' + port);
}

std::vector<int> Listener::accept() const {
  std::vector<int> accepted;
  while (is_open()) {
    const int descriptor = ::accept(descriptor_, nullptr, nullptr);
    if (descriptor < 0) break;
    set_non_blocking(descriptor);
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    accepted.push_back(descriptor);
  }
  return accepted;
}

void Listener::close() {
  if (is_open()) ::close(std::exchange(descriptor_, -1));
}

}  // namespace sitter::fake
