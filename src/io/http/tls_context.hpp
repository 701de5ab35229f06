#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "io/http/environment.hpp"
#include "sitter/bytes.hpp"

struct ssl_ctx_st;
struct x509_store_st;

namespace sitter {

namespace limits {

/// The largest file of trusted certificates that is read. The bundles of the distributions have
/// 200 KiB; one with the text form of each certificate has 1 MiB.
inline constexpr std::size_t kTrustBytesMax = 16 * kMiB;

}  // namespace limits

/// What all TLS connections share: the settings of OpenSSL and the trusted certificates. Neither
/// takes memory before the first connection.
///
/// The certificates come from the first of these that is given: the file of `--cacert`, the
/// variables SSL_CERT_FILE and SSL_CERT_DIR, the bundle or the store of the system.
class TlsContext {
 public:
  struct Options {
    /// The file of `--cacert`, or empty.
    std::string cacert;
    Environment environment;
    /// Where the bundle of the system may be. The first file that exists is used.
    std::vector<std::string> bundles = system_bundles();
  };

  static std::vector<std::string> system_bundles();

  explicit TlsContext(Options options);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  /// Loads the certificates with the first call. Returns null if that fails; `error` is then a
  /// clause for a person, and the next call tries again. A connection keeps what it needs of the
  /// context, and may outlast it.
  ssl_ctx_st* get(std::string& error);

  /// Empty if `--cacert` was not given.
  const std::string& cacert() const { return options_.cacert; }

 private:
  struct Freed {
    void operator()(ssl_ctx_st* context) const;
  };

  bool load_certificates(x509_store_st* store, std::string& error) const;
  std::string variable(const char* name) const;

  Options options_;
  std::unique_ptr<ssl_ctx_st, Freed> context_;
};

}  // namespace sitter
