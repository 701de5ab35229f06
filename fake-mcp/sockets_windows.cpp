#include <winsock2.h>
// winsock2.h comes before all other headers of the system.
#include <windows.h>
#include <ws2tcpip.h>

#include <algorithm>
#include <limits>

#include "sockets.hpp"

namespace sitter::fake {
namespace {

SOCKET handle_of(Socket socket) { return static_cast<SOCKET>(socket); }

/// The first call of the sockets must be this.
void start_sockets() {
  static const int started = [] {
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data);
  }();
  static_cast<void>(started);
}

void set_non_blocking(SOCKET socket) {
  u_long on = 1;
  ioctlsocket(socket, FIONBIO, &on);
  SetHandleInformation(reinterpret_cast<HANDLE>(socket), HANDLE_FLAG_INHERIT, 0);
}

/// The result of recv or send.
std::optional<std::size_t> moved(int count) {
  if (count > 0) return static_cast<std::size_t>(count);
  if (count < 0 && WSAGetLastError() == WSAEWOULDBLOCK) return 0;
  return std::nullopt;
}

int at_most(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

Socket listen_at(const std::string& address, const std::string& port) {
  start_sockets();
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), port.c_str(), &hints, &found) != 0) return kNoSocket;
  const SOCKET socket = WSASocketW(found->ai_family, found->ai_socktype, found->ai_protocol,
                                   nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  // On Windows, SO_REUSEADDR would let two daemons listen at one port, and the connections of a
  // predecessor do not hold the port ("Using SO_REUSEADDR and SO_EXCLUSIVEADDRUSE").
  const BOOL on = TRUE;
  setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&on),
             sizeof on);
  const bool listens = bind(socket, found->ai_addr, static_cast<int>(found->ai_addrlen)) == 0 &&
                       listen(socket, SOMAXCONN) == 0;
  freeaddrinfo(found);
  set_non_blocking(socket);
  if (listens) return static_cast<Socket>(socket);
  closesocket(socket);
  return kNoSocket;
}

std::string port_of(Socket socket) {
  sockaddr_storage address{};
  int size = sizeof address;
  getsockname(handle_of(socket), reinterpret_cast<sockaddr*>(&address), &size);
  char port[NI_MAXSERV] = {};
  getnameinfo(reinterpret_cast<sockaddr*>(&address), size, nullptr, 0, port, sizeof port,
              NI_NUMERICHOST | NI_NUMERICSERV);
  return port;
}

Socket accept_at(Socket listener) {
  const SOCKET socket = accept(handle_of(listener), nullptr, nullptr);
  if (socket == INVALID_SOCKET) return kNoSocket;
  set_non_blocking(socket);
  const BOOL on = TRUE;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&on), sizeof on);
  return static_cast<Socket>(socket);
}

void close_socket(Socket socket) { closesocket(handle_of(socket)); }

std::optional<std::size_t> receive(Socket socket, char* bytes, std::size_t size) {
  return moved(recv(handle_of(socket), bytes, at_most(size), 0));
}

std::optional<std::size_t> send_some(Socket socket, std::string_view bytes) {
  return moved(send(handle_of(socket), bytes.data(), at_most(bytes.size()), 0));
}

bool wait_for(std::vector<SocketWait>& sockets, std::optional<std::chrono::milliseconds> limit) {
  std::vector<WSAPOLLFD> polled;
  for (SocketWait& wait : sockets) {
    wait.can_read = wait.can_write = false;
    const int events = (wait.reads ? POLLRDNORM : 0) | (wait.writes ? POLLWRNORM : 0);
    if (events != 0) polled.push_back({handle_of(wait.socket), static_cast<SHORT>(events), 0});
  }
  const int timeout = limit ? static_cast<int>(limit->count()) : -1;
  // WSAPoll refuses to wait for no socket.
  if (polled.empty()) {
    Sleep(timeout < 0 ? INFINITE : static_cast<DWORD>(timeout));
    return false;
  }
  const int ready = WSAPoll(polled.data(), static_cast<ULONG>(polled.size()), timeout);
  auto result = polled.cbegin();
  for (SocketWait& wait : sockets) {
    if (!wait.reads && !wait.writes) continue;
    const int events = ready > 0 ? result->revents : 0;
    wait.can_read = (events & (POLLRDNORM | POLLHUP | POLLERR)) != 0;
    wait.can_write = (events & POLLWRNORM) != 0;
    ++result;
  }
  return ready != 0;
}

}  // namespace sitter::fake
