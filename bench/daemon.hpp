#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include "program.hpp"
#include "support/temporary_directory.hpp"

struct ssl_ctx_st;

namespace sitter::bench {

/// A running fake-mcp that serves HTTP and costs almost nothing.
class Daemon {
 public:
  /// The command without `--http`.
  explicit Daemon(Words command);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();

  std::uint16_t port() const { return port_; }

 private:
  Started started_;
  std::uint16_t port_ = 0;
};

/// Stands in front of a daemon on this machine and copies bytes. While it is shut, nothing listens
/// at its port, as if the daemon were away.
class Front {
 public:
  enum class Speaks { plainly, tls };

  /// It is open at first. With TLS, its certificate signs itself.
  Front(std::uint16_t daemon, Speaks speaks);
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  ~Front();

  std::uint16_t port() const { return port_; }
  /// A file with the certificate.
  std::string cacert() const { return directory_ / "cacert.pem"; }

  void open();
  /// Also closes all connections.
  void shut();
  /// When the first connection since `open` was accepted. Only after `shut`.
  std::optional<Clock::time_point> first_accept() const { return first_accept_; }

 private:
  struct Connection {
    int client;
    int daemon;
    std::thread copier{};
  };

  void accept_all();
  void copy(int client, int daemon) const;

  testing::TemporaryDirectory directory_;
  ssl_ctx_st* tls_ = nullptr;
  std::uint16_t daemon_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::list<Connection> connections_;
  std::optional<Clock::time_point> first_accept_;
  std::thread acceptor_;
};

}  // namespace sitter::bench
