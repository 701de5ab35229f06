#pragma once

#include <cstddef>
#include <string>

struct x509_store_ctx_st;

namespace sitter {

namespace limits {

/// How many names of a certificate a message shows, and how many bytes of a text from a
/// certificate, an alert or a proxy. A name in the DNS has at most 253 bytes.
inline constexpr std::size_t kCertificateNamesShown = 3;
inline constexpr std::size_t kPeerTextMax = 253;

}  // namespace limits

/// Why OpenSSL refuses the certificate that it is just verifying, as a clause for a person: "the
/// certificate is for other.example, not for localhost". `cacert` is the file of `--cacert`, or
/// empty.
std::string certificate_refusal(x509_store_ctx_st* verified, const std::string& host,
                                const std::string& cacert);

}  // namespace sitter
