#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace sitter::bench {

/// Speaks TLS in front of a daemon on this machine, as a process of its own, with a certificate
/// that signs itself.
class TlsFront {
 public:
  explicit TlsFront(std::uint16_t daemon);
  TlsFront(const TlsFront&) = delete;
  TlsFront& operator=(const TlsFront&) = delete;
  ~TlsFront();

  std::string url() const;
  /// A file with the certificate.
  const std::string& cacert() const { return cacert_; }

 private:
  std::string cacert_;
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace sitter::bench
