#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/http.hpp"

namespace sitter {

namespace limits {

/// A header value is taken for a secret, and hidden where a daemon repeats it, from this length on.
/// A shorter value, such as "eu", also stands in texts that have nothing to do with it.
inline constexpr std::size_t kSecretMin = 6;

/// So many bytes of the beginning of a longer secret are hidden too: some text was cut there.
inline constexpr std::size_t kSecretPartMin = 16;

}  // namespace limits

/// The headers that the user has set, and as one more what stands in the target of the URL behind
/// its path.
std::vector<HttpHeader> secret_headers(std::vector<HttpHeader> headers, std::string_view target);

/// What must not be shown of such headers: their values, the words of a value but for the name of a
/// scheme such as "Bearer", and what a word gives a name, as a cookie does, or a query. Shorter
/// texts than `limits::kSecretMin` bytes occur in any text and are no secrets.
///
/// They are hidden in texts for people. A message passes as it is, because a header may have the
/// value of an id or of a member's name. A text is cut after its secrets are hidden, so that no
/// part of one is left.
class Secrets {
 public:
  Secrets() = default;
  explicit Secrets(const std::vector<HttpHeader>& headers);

  /// The text with "***" in the place of each secret, also where it is written with the escapes of
  /// JSON, HTML or a URL. `is_cut`: the text may end within a secret.
  std::string masked(std::string_view text, bool is_cut = false) const;
  /// `sitter::brief` of the text without its secrets.
  std::string brief(std::string_view bytes, std::size_t bytes_max) const;

 private:
  std::vector<std::string> words_;  // the longest come first
};

}  // namespace sitter
