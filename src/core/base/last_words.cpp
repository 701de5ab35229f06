#include "core/base/last_words.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// A frame of a stack in JavaScript, Java or C#, or what these write around the stack.
bool is_frame(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos || line.find_first_not_of(" \t^~") == line.npos) return true;
  const std::string_view words = line.substr(begin);
  return (begin > 0 && words.starts_with("at ")) || words.starts_with("Node.js v");
}

}  // namespace

bool has_error_word(std::string_view line) {
  static const RE2 words(
      R"re((?i)\b(error|errors|fatal|failed|failure|panic|panicked|exception|traceback|undefined reference|multiple definition|unresolved|cannot find|could not|not found|no rule to make)\b)re"
      R"re(|^e: |(?-i:[A-Z]\w*(Error|Exception): ))re",
      RE2::Quiet);
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), words);
}

std::vector<std::string_view> last_words(std::string_view stderr_tail, std::size_t lines_max) {
  std::vector<std::string_view> lines = text_lines(stderr_tail);
  std::erase_if(lines, is_frame);
  const std::size_t begin = lines.size() - std::min(lines.size(), lines_max);
  const auto error = std::find_if(lines.rbegin(), lines.rend(), has_error_word);
  const auto last = lines.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto first = error == lines.rend() ? last : std::min(last, std::prev(error.base()));
  return {first, first + std::min(static_cast<std::ptrdiff_t>(lines_max), lines.end() - first)};
}

}  // namespace sitter
