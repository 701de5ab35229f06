#include "support/scripted_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "support/sockets.hpp"

namespace sitter::testing {
namespace {

/// A socket with this address. Port 0 lets the system choose.
FileDescriptor bound(const std::string& address, std::uint16_t port) {
  sockaddr_in6 v6{};
  sockaddr_in v4{};
  const bool is_v6 = inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1;
  FileDescriptor made = tcp_socket(is_v6 ? AF_INET6 : AF_INET, O_NONBLOCK);
  const int on = 1;
  setsockopt(made.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  int result = -1;
  if (is_v6) {
    setsockopt(made.number(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    result = bind(made.number(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  } else {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    EXPECT_EQ(inet_pton(AF_INET, address.c_str(), &v4.sin_addr), 1);
    result = bind(made.number(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  }
  EXPECT_EQ(result, 0) << std::strerror(errno);
  return made;
}

std::uint16_t port_of(const FileDescriptor& socket) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  // The port has the same place in an IPv4 address.
  return ntohs(address.sin6_port);
}

/// The size of the first request in the text; 0 if it is not whole.
std::size_t request_size(const std::string& text) {
  const std::size_t head = text.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  std::size_t size = head + 4;
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t at = text.find(kLength);
  if (at < head) size += std::strtoull(text.c_str() + at + kLength.size(), nullptr, 10);
  return size <= text.size() ? size : 0;
}

}  // namespace

class ScriptedServer::Acceptor final : EventLoop::Reader {
 public:
  Acceptor(ScriptedServer& server, FileDescriptor socket)
      : server_(server), socket_(std::move(socket)) {
    EXPECT_EQ(listen(socket_.number(), SOMAXCONN), 0);
    server_.loop_.watch(socket_.number(), *this);
  }
  ~Acceptor() { server_.loop_.forget(*this); }

 private:
  Seen on_readable() override {
    FileDescriptor socket(accept(socket_.number(), nullptr, nullptr));
    if (!socket.is_open()) return Seen::nothing;
    fcntl(socket.number(), F_SETFD, FD_CLOEXEC);
    fcntl(socket.number(), F_SETFL, O_NONBLOCK);
    server_.take(std::move(socket));
    return Seen::filled;
  }

  ScriptedServer& server_;
  FileDescriptor socket_;
};

ScriptedServer::ScriptedServer(EventLoop& loop, const std::string& address, std::uint16_t port)
    : loop_(loop) {
  FileDescriptor socket = bound(address, port);
  port_ = port_of(socket);
  acceptor_ = std::make_unique<Acceptor>(*this, std::move(socket));
}
ScriptedServer::~ScriptedServer() = default;

void ScriptedServer::stop_listening() { acceptor_.reset(); }

void ScriptedServer::take(FileDescriptor socket) {
  on_accepted(*peers.emplace_back(std::make_unique<Peer>(*this, std::move(socket))));
}

ScriptedServer::Peer::Peer(ScriptedServer& server, FileDescriptor socket)
    : server_(server), socket_(std::move(socket)) {
  writer_ = std::make_unique<StreamWriter>(
      server_.loop_, FileDescriptor(fcntl(socket_.number(), F_DUPFD_CLOEXEC, 0)),
      StreamWriter::Events{[] {}, [] {}});
  server_.loop_.watch(socket_.number(), *this);
}
ScriptedServer::Peer::~Peer() { server_.loop_.forget(*this); }

void ScriptedServer::Peer::send(std::string_view bytes) {
  writer_->append(bytes);
  writer_->flush();
}

void ScriptedServer::Peer::close() {
  server_.loop_.forget(*this);
  writer_->close();
  socket_.close();
}

void ScriptedServer::Peer::reset() {
  const linger at_once{1, 0};
  setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

EventLoop::Reader::Seen ScriptedServer::Peer::on_readable() {
  std::array<char, 65536> piece;
  const ssize_t count = read(socket_.number(), piece.data(), piece.size());
  if (count < 0 && errno == EAGAIN) return Seen::nothing;
  if (count <= 0) {
    close();
    server_.on_closed();
    return Seen::partly;
  }
  received_.append(piece.data(), static_cast<std::size_t>(count));
  while (const std::size_t size = request_size(received_)) {
    server_.requests.push_back(received_.substr(0, size));
    received_.erase(0, size);
    server_.on_request(*this, server_.requests.back());
    if (!is_open()) return Seen::partly;
  }
  return static_cast<std::size_t>(count) == piece.size() ? Seen::filled : Seen::partly;
}

std::string response(std::string_view body, std::string_view headers, std::string_view status) {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\n").append(headers);
  text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return text.append(body);
}

}  // namespace sitter::testing
