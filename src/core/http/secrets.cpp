#include "core/http/secrets.hpp"

#include <algorithm>
#include <string_view>

#include "core/base/ascii.hpp"

namespace sitter {
namespace {

constexpr std::string_view kBetweenWords = " \t;,";

bool is_scheme(std::string_view word) {
  return std::all_of(word.begin(), word.end(), is_ascii_letter);
}

}  // namespace

Secrets::Secrets(const std::vector<HttpHeader>& headers) {
  const auto add = [this](std::string_view word) {
    if (word.size() >= limits::kSecretMin) words_.emplace_back(word);
  };
  for (const HttpHeader& header : headers) {
    const std::string_view value = header.value;
    add(value);
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t end = std::min(value.find_first_of(kBetweenWords, at), value.size());
      const std::string_view word = value.substr(at, end - at);
      if (at > 0 || !is_scheme(word)) add(word);
      at = end + 1;
    }
  }
  std::stable_sort(words_.begin(), words_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Secrets::masked(std::string text) const {
  constexpr std::string_view kMask = "***";
  for (const std::string& word : words_) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at)) {
      text.replace(at, word.size(), kMask);
      at += kMask.size();
    }
  }
  return text;
}

}  // namespace sitter
