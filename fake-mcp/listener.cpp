#include "listener.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "process.hpp"

namespace sitter::fake {
namespace {

[[noreturn]] void fail(const std::string& what) {
  say("fake-mcp: " + what);
  std::exit(1);
}

/// A reader sees the whole file or none.
void write_port(const std::string& file, const std::string& port) {
  const std::filesystem::path beside = path_of(file + '.' + std::to_string(process_id()));
  std::ofstream(beside, std::ios::binary) << port << '\n';
  std::error_code failure;
  std::filesystem::rename(beside, path_of(file), failure);
  if (failure) fail(file + " cannot be written");
}

}  // namespace

Listener::Listener(const HttpOptions& options) {
  const std::string wanted = std::to_string(options.port.value_or(0));
  const bool is_v6 = options.address.find(':') != std::string::npos;
  const std::string host = is_v6 ? '[' + options.address + ']' : options.address;
  socket_ = listen_at(options.address, wanted);
  if (!is_open()) fail("cannot listen on " + host + ':' + wanted);
  const std::string port = port_of(socket_);
  if (options.port_file) write_port(*options.port_file, port);
  say("listening on " + host + ':' + port);
}

std::vector<Socket> Listener::accept() const {
  std::vector<Socket> accepted;
  while (is_open()) {
    const Socket socket = accept_at(socket_);
    if (socket == kNoSocket) break;
    accepted.push_back(socket);
  }
  return accepted;
}

void Listener::close() {
  if (is_open()) close_socket(std::exchange(socket_, kNoSocket));
}

}  // namespace sitter::fake
