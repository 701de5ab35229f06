#include "core/base/last_words.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

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
      R"re((?i)\b(error|errors|fatal|failed|failure|panic|panicked|exception|traceback|undefined reference|multiple definition|unresolved|cannot find|cannot open|could not|not found|no rule to make|no such file or directory|permission denied|address already in use|terminate called|segmentation fault|critical)\b)re"
      R"re(|^e: |(?-i:\b[A-Z]\w*(Error|Exception)(: |$)))re",
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

void LastWords::add(std::string line) {
  if (is_frame(line)) return;
  const bool is_error = has_error_word(line);
  if (is_error) from_error_.clear();
  since_error_ = is_error ? 1 : since_error_ + 1;
  const bool follows = is_error || !from_error_.empty();
  if (follows && from_error_.size() < lines_max_) from_error_.push_back(line);
  if (last_.size() == lines_max_) last_.pop_front();
  last_.push_back(std::move(line));
}

std::vector<std::string> LastWords::lines() const {
  const bool is_in_last = from_error_.empty() || since_error_ <= lines_max_;
  return is_in_last ? std::vector<std::string>(last_.begin(), last_.end()) : from_error_;
}

}  // namespace sitter
