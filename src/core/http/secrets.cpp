#include "core/http/secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/html_character.hpp"
#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/http/url.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

constexpr std::string_view kBetweenWords = " \t;,\"&?";

/// How many backslashes may stand before a character: JSON in a text in JSON, four times over.
constexpr std::size_t kEscapesMax = 16;

/// How much of a text is looked at to show a part of it.
constexpr std::size_t kShownFromMax = 64 * limits::kKiB;

bool is_scheme(std::string_view word) {
  return std::all_of(word.begin(), word.end(), is_ascii_letter);
}

/// How many bytes at the beginning of a text are this word, perhaps with escapes; 0 if it begins
/// with another one. JSON within JSON has several backslashes before a character.
std::size_t size_at_begin(std::string_view text, std::string_view word, bool is_cut) {
  const std::size_t word_size = word.size();
  std::size_t at = 0;
  while (!word.empty()) {
    const std::size_t escape = at;
    const std::size_t end = std::min(text.size(), escape + kEscapesMax);
    while (at < end && text[at] == '\\' && word.front() != '\\') ++at;
    const std::string_view rest = text.substr(at);
    std::size_t size = 0;
    std::size_t read = 0;
    if (at > escape && rest.starts_with('u')) {
      // A character beyond U+FFFF is written as a pair.
      for (read = 5; size == 0; read = 11) {
        const auto character = json_decoded(fmt::format("\"\\{}\"", rest.substr(0, read)));
        if (character && word.starts_with(*character)) size = character->size();
        if (size > 0 || read == 11) break;
      }
    } else if (rest.starts_with('%') && word.front() != '%') {
      read = 3;
      if (percent_decoded(rest.substr(0, read)) == word.substr(0, 1)) size = 1;
    }
    if (const auto character = html_character(rest);
        size == 0 && character && word.starts_with(character->text)) {
      size = character->text.size();
      read = character->size;
    }
    // A query may have a plus for a blank.
    const bool is_plus = word.front() == '+' && rest.starts_with(' ');
    if (size == 0 && (is_plus || rest.starts_with(word.front()))) size = read = 1;
    if (size == 0) {
      if (is_cut && read >= rest.size()) return text.size();
      return word_size - word.size() >= limits::kSecretPartMin ? escape : 0;
    }
    word.remove_prefix(size);
    at += read;
  }
  return at;
}

}  // namespace

std::vector<HttpHeader> secret_headers(std::vector<HttpHeader> headers, std::string_view target) {
  const std::size_t query = target.find('?');
  if (query != target.npos) headers.push_back({"query", std::string(target.substr(query))});
  return headers;
}

Secrets::Secrets(const std::vector<HttpHeader>& headers) {
  const auto add = [this](std::string_view word) {
    if (word.size() >= limits::kSecretMin) words_.emplace_back(word);
    std::string decoded = percent_decoded(word);
    if (decoded != word && decoded.size() >= limits::kSecretMin) {
      words_.push_back(std::move(decoded));
    }
  };
  for (const HttpHeader& header : headers) {
    const std::string_view value = header.value;
    add(value);
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t end = std::min(value.find_first_of(kBetweenWords, at), value.size());
      const std::string_view word = value.substr(at, end - at);
      if (at > 0 || !is_scheme(word)) add(word);
      if (const std::size_t equals = word.find('='); equals != word.npos) {
        add(word.substr(equals + 1));
      }
      at = end + 1;
    }
  }
  std::stable_sort(words_.begin(), words_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Secrets::masked(std::string_view text, bool is_cut) const {
  if (words_.empty()) return std::string(text);
  std::string shown;
  while (!text.empty()) {
    std::size_t size = 0;
    for (const std::string& word : words_) {
      if (size == 0) size = size_at_begin(text, word, is_cut);
    }
    shown += size == 0 ? text.substr(0, 1) : "***";
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return shown;
}

std::string Secrets::brief(std::string_view bytes, std::size_t bytes_max) const {
  const std::string_view begin = bytes.substr(0, kShownFromMax);
  const bool is_cut = begin.size() < bytes.size();
  // Without the colours, a secret may stand where none stood.
  return shortened(masked(one_line(masked(begin, is_cut)), is_cut), bytes_max);
}

}  // namespace sitter
