#pragma once

#include <memory>
#include <string>
#include <vector>

struct x509_st;
struct evp_pkey_st;

namespace sitter::testing {

/// A certificate with its private key, made for a test.
struct Identity {
  std::shared_ptr<x509_st> certificate;
  std::shared_ptr<evp_pkey_st> key;

  std::string pem() const;
};

struct CertificateRequest {
  std::string common_name = "a test";
  /// As OpenSSL writes them: "DNS:localhost", "IP:127.0.0.1".
  std::vector<std::string> names{};
  bool is_authority = false;
  /// "20260102000000Z". Empty: it is valid since yesterday, or until tomorrow.
  std::string not_before{};
  std::string not_after{};
};

/// A certificate that signs itself.
Identity self_signed(const CertificateRequest& request);
Identity issued_by(const Identity& authority, const CertificateRequest& request);

}  // namespace sitter::testing
