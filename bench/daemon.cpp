#include "daemon.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "support/certificates.hpp"

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

void set(int socket, int level, int option) {
  const int on = 1;
  setsockopt(socket, level, option, &on, sizeof on);
}

/// If `port` is 0, the system chooses one.
int listen_at(std::uint16_t& port) {
  const int listener = open_socket();
  set(listener, SOL_SOCKET, SO_REUSEADDR);
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
  set(opened, IPPROTO_TCP, TCP_NODELAY);
  return opened;
}

}  // namespace

Daemon::Daemon(Words command) {
  command.insert(command.end(), {"--http", "0", "--life-limit", "3600"});
  started_ = start_program(command, Errors::read);
  char line[200];
  const ssize_t count = read(started_.errors, line, sizeof line);
  const std::string_view said(line, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  const std::size_t colon = said.rfind(':');
  if (colon == said.npos) die("fake-mcp does not listen");
  std::from_chars(said.data() + colon + 1, said.data() + said.size(), port_);
}

Daemon::~Daemon() {
  kill(started_.pid, SIGKILL);
  waitpid(started_.pid, nullptr, 0);
  for (const int end : {started_.input, started_.output, started_.errors}) close(end);
}

Front::Front(std::uint16_t daemon, Speaks speaks) : daemon_(daemon) {
  if (speaks == Speaks::tls) {
    const testing::Identity identity = testing::self_signed({.names = {"IP:127.0.0.1"}});
    directory_.write("cacert.pem", identity.pem());
    tls_ = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(tls_, identity.certificate.get());
    SSL_CTX_use_PrivateKey(tls_, identity.key.get());
  }
  open();
}

Front::~Front() {
  shut();
  SSL_CTX_free(tls_);
}

void Front::open() {
  listener_ = listen_at(port_);
  first_accept_.reset();
  acceptor_ = std::thread([this] { accept_all(); });
}

void Front::shut() {
  if (!acceptor_.joinable()) return;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  for (Connection& connection : connections_) {
    shutdown(connection.client, SHUT_RDWR);
    shutdown(connection.daemon, SHUT_RDWR);
    connection.copier.join();
    close(connection.client);
    close(connection.daemon);
  }
  connections_.clear();
}

void Front::accept_all() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    if (!first_accept_) first_accept_ = Clock::now();
    set(client, IPPROTO_TCP, TCP_NODELAY);
    Connection& made = connections_.emplace_back(Connection{client, connect_to(daemon_)});
    made.copier = std::thread([this, client, daemon = made.daemon] {
      copy(client, daemon);
      shutdown(client, SHUT_RDWR);
      shutdown(daemon, SHUT_RDWR);
    });
  }
}

/// Both sides have at most one message under way, so a write does not wait for long.
void Front::copy(int client, int daemon) const {
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(tls_ ? SSL_new(tls_) : nullptr, SSL_free);
  if (tls && (SSL_set_fd(tls.get(), client) != 1 || SSL_accept(tls.get()) != 1)) return;
  // A record of TLS fits into it, so nothing is left in OpenSSL when `poll` is asked.
  char buffer[64 * 1024];
  const int size = sizeof buffer;
  pollfd polled[] = {{client, POLLIN, 0}, {daemon, POLLIN, 0}};
  while (poll(polled, 2, -1) > 0) {
    if (polled[0].revents != 0) {
      const ssize_t count = tls ? SSL_read(tls.get(), buffer, size) : read(client, buffer, size);
      if (count <= 0 || write(daemon, buffer, static_cast<std::size_t>(count)) != count) return;
    }
    if (polled[1].revents != 0) {
      const ssize_t count = read(daemon, buffer, size);
      if (count <= 0) return;
      const ssize_t written = tls ? SSL_write(tls.get(), buffer, static_cast<int>(count))
                                  : write(client, buffer, static_cast<std::size_t>(count));
      if (written != count) return;
    }
  }
}

}  // namespace sitter::bench
