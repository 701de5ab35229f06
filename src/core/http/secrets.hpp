#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sitter/http.hpp"

namespace sitter {

namespace limits {

/// A header value is taken for a secret, and hidden where a daemon repeats it, from this length on.
/// A shorter value, such as "eu", also stands in texts that have nothing to do with it.
inline constexpr std::size_t kSecretMin = 6;

}  // namespace limits

/// What must not be shown of the headers that the user has set: their values, and the words of a
/// value but for the name of a scheme such as "Bearer". Shorter words than `limits::kSecretMin`
/// bytes occur in any text and are no secrets.
class Secrets {
 public:
  Secrets() = default;
  explicit Secrets(const std::vector<HttpHeader>& headers);

  /// The text with "***" in the place of each secret.
  std::string masked(std::string text) const;

 private:
  std::vector<std::string> words_;  // the longest come first
};

}  // namespace sitter
