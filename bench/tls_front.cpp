#include "tls_front.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "loopback.hpp"
#include "program.hpp"
#include "support/certificates.hpp"

namespace sitter::bench {
namespace {

using testing::Identity;

/// Copies in both directions until one side ends.
void copy(SSL* client, int client_socket, int daemon) {
  char buffer[16 * 1024];
  pollfd polled[] = {{client_socket, POLLIN, 0}, {daemon, POLLIN, 0}};
  while (SSL_pending(client) > 0 || poll(polled, 2, -1) > 0) {
    if (SSL_pending(client) > 0 || polled[0].revents != 0) {
      const int count = SSL_read(client, buffer, sizeof buffer);
      if (count <= 0 || write(daemon, buffer, static_cast<std::size_t>(count)) != count) return;
    }
    if (polled[1].revents == 0) continue;
    const ssize_t count = read(daemon, buffer, sizeof buffer);
    if (count <= 0 || SSL_write(client, buffer, static_cast<int>(count)) <= 0) return;
  }
}

void serve_one(SSL_CTX* context, int client_socket, std::uint16_t daemon_port) {
  send_at_once(client_socket);
  SSL* const client = SSL_new(context);
  SSL_set_fd(client, client_socket);
  if (SSL_accept(client) == 1) {
    const int daemon = connect_to(daemon_port);
    copy(client, client_socket, daemon);
    close(daemon);
  }
  SSL_free(client);
  close(client_socket);
}

[[noreturn]] void serve(int listener, std::uint16_t daemon, const Identity& identity) {
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate(context, identity.certificate.get());
  SSL_CTX_use_PrivateKey(context, identity.key.get());
  while (true) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) std::thread(serve_one, context, client, daemon).detach();
  }
}

}  // namespace

TlsFront::TlsFront(std::uint16_t daemon) {
  const Identity identity = testing::self_signed({.names = {"IP:127.0.0.1"}});
  const int listener = listen_at(port_);
  cacert_ = std::filesystem::temp_directory_path() / fmt::format("http_bench.{}.pem", getpid());
  std::ofstream(cacert_) << identity.pem();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(listener, daemon, identity);
  }
  close(listener);
}

TlsFront::~TlsFront() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  std::filesystem::remove(cacert_);
}

std::string TlsFront::url() const { return fmt::format("https://127.0.0.1:{}/mcp", port_); }

}  // namespace sitter::bench
