#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "sockets.hpp"

namespace sitter::fake {
namespace {

int descriptor_of(Socket socket) { return static_cast<int>(socket); }

void set_non_blocking(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/// The result of recv(2) or send(2).
std::optional<std::size_t> moved(ssize_t count) {
  if (count > 0) return static_cast<std::size_t>(count);
  if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
  return std::nullopt;
}

}  // namespace

Socket listen_at(const std::string& address, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), port.c_str(), &hints, &found) != 0) return kNoSocket;
  const int descriptor = ::socket(found->ai_family, found->ai_socktype, found->ai_protocol);
  // A daemon that starts anew takes the port of its predecessor, whose connections may linger.
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool listens = ::bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 &&
                       ::listen(descriptor, SOMAXCONN) == 0;
  ::freeaddrinfo(found);
  set_non_blocking(descriptor);
  if (listens) return descriptor;
  ::close(descriptor);
  return kNoSocket;
}

std::string port_of(Socket socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(descriptor_of(socket), reinterpret_cast<sockaddr*>(&address), &size);
  char port[NI_MAXSERV];
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, nullptr, 0, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  return port;
}

Socket accept_at(Socket listener) {
  const int descriptor = ::accept(descriptor_of(listener), nullptr, nullptr);
  if (descriptor < 0) return kNoSocket;
  set_non_blocking(descriptor);
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return descriptor;
}

void close_socket(Socket socket) { ::close(descriptor_of(socket)); }

std::optional<std::size_t> receive(Socket socket, char* bytes, std::size_t size) {
  return moved(::recv(descriptor_of(socket), bytes, size, 0));
}

std::optional<std::size_t> send_some(Socket socket, std::string_view bytes) {
  return moved(::send(descriptor_of(socket), bytes.data(), bytes.size(), 0));
}

bool wait_for(std::vector<SocketWait>& sockets, std::optional<std::chrono::milliseconds> limit) {
  static std::vector<pollfd> polled;
  polled.clear();
  for (const SocketWait& wait : sockets) {
    const int events = (wait.reads ? POLLIN : 0) | (wait.writes ? POLLOUT : 0);
    // A connection of which nothing is awaited must not report again and again that it is closed.
    polled.push_back(
        {events == 0 ? -1 : descriptor_of(wait.socket), static_cast<short>(events), 0});
  }
  const int timeout = limit ? static_cast<int>(limit->count()) : -1;
  const int ready = ::poll(polled.data(), static_cast<nfds_t>(polled.size()), timeout);
  for (std::size_t at = 0; at < sockets.size(); ++at) {
    const int events = ready > 0 ? polled[at].revents : 0;
    sockets[at].can_read = (events & (POLLIN | POLLHUP | POLLERR)) != 0;
    sockets[at].can_write = (events & POLLOUT) != 0;
  }
  return ready != 0;
}

}  // namespace sitter::fake
