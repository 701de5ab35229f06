#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "support/certificates.hpp"

struct ssl_st;

namespace sitter::testing {

/// The server of a TLS connection. It takes and returns the bytes of the connection, and touches no
/// socket.
class TlsPeer {
 public:
  struct Options {
    /// 0x0303 for TLS 1.2; 0 for any version.
    int version = 0;
    bool asks_for_certificate = false;
    /// The only protocol that it speaks; empty if it does not choose one.
    std::string protocol{};
  };

  TlsPeer(const Identity& identity, const Options& options);

  /// Each of these returns the bytes that the server sends.
  std::string receive(std::string_view bytes);
  std::string send(std::string_view text);
  std::string send_ticket();
  /// Both sides get new keys. TLS 1.3 only.
  std::string update_keys();
  /// TLS 1.2 only.
  std::string renegotiate();
  std::string close();

  /// The bytes that the client has sent.
  const std::string& received() const { return received_; }
  /// Whether the client has sent the close message.
  bool is_closed() const;
  std::string host_name() const;
  std::string protocol() const;
  int version() const;
  /// The last alert of the client: "unknown CA".
  std::string alert() const { return alert_; }

 private:
  std::string flight();

  std::shared_ptr<ssl_st> ssl_;
  std::string received_;
  std::string alert_;
  /// After a byte for its size, as ALPN has it.
  std::string own_protocol_;
};

}  // namespace sitter::testing
