#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter::fake {

/// A socket: a descriptor, or a handle of Windows. A socket never blocks, and no other process
/// inherits it.
using Socket = std::intptr_t;
inline constexpr Socket kNoSocket = -1;

/// Listens at a numeric address and port. kNoSocket if that is not possible.
Socket listen_at(const std::string& address, const std::string& port);
std::string port_of(Socket socket);

/// A connection that has come; kNoSocket if there is none. It delays no small write.
Socket accept_at(Socket listener);
void close_socket(Socket socket);

/// Moves as many bytes as possible. Returns their number, which is 0 if one would have to wait;
/// nothing if the connection is closed.
std::optional<std::size_t> receive(Socket socket, char* bytes, std::size_t size);
std::optional<std::size_t> send_some(Socket socket, std::string_view bytes);

/// Waits until everything is sent. False if the connection is closed.
bool send_all(Socket socket, std::string_view bytes);

/// What is awaited of a socket, and what has come. A closed connection can be read.
struct SocketWait {
  Socket socket = kNoSocket;
  bool reads = false;
  bool writes = false;
  bool can_read = false;
  bool can_write = false;
};

/// Waits for one of the sockets. False if nothing comes within this time. Sockets of which nothing
/// is awaited are left out.
bool wait_for(std::vector<SocketWait>& sockets, std::optional<std::chrono::milliseconds> limit);

}  // namespace sitter::fake
