#pragma once

#include <string>

struct x509_store_ctx_st;

namespace sitter {

/// Why OpenSSL refuses the certificate that it is just verifying, as a clause for a person: "the
/// certificate is for other.example, not for localhost". `cacert` is the file of `--cacert`, or
/// empty.
std::string certificate_refusal(x509_store_ctx_st* verified, const std::string& host,
                                const std::string& cacert);

}  // namespace sitter
