#include "core/build/build_excerpt.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// A compiler quotes whole lines of generated code.
constexpr std::size_t kLineBytesMax = limits::kBuildErrorBytesMax;
/// With the mark of a line that was cut, and what counts the lines before it.
constexpr std::size_t kLineBytesOnTop = 48 + 32;
/// What most tools call an error.
constexpr const char* kError =
    R"re((?i)\b(error|errors|fatal|failed|failure|panic|panicked|exception|traceback|undefined reference|unresolved|cannot find|could not|not found|no rule to make)\b)re";
/// Go's compiler only says where.
constexpr const char* kPlace = R"re(^\S+:\d+:(\d+:)? )re";
/// What may stand at a place without being an error.
constexpr const char* kRemark = R"re((?i)\b(warning|note|remark|info|hint)\b)re";
/// A summary of none.
constexpr const char* kNoError = R"re((?i)\b(0|no) (errors?|failures?|failed)\b)re";

/// Chooses lines as long as there is room.
class Choice {
 public:
  Choice(const std::vector<BuildLine>& lines, std::size_t lines_max, std::size_t bytes_max)
      : lines_(lines), is_chosen_(lines.size()), lines_left_(lines_max), bytes_left_(bytes_max) {}

  /// False if there is no room for it.
  bool take(std::size_t index) {
    if (is_chosen_[index]) return true;
    const std::size_t size =
        std::min(lines_[index].text.size(), kLineBytesMax) + 1 + kLineBytesOnTop;
    if (lines_left_ == 0 || size > bytes_left_) return false;
    is_chosen_[index] = true;
    --lines_left_;
    bytes_left_ -= size;
    return true;
  }

  /// Whether more than so much is left.
  bool has_more_than(std::size_t lines, std::size_t bytes) const {
    return lines_left_ > lines && bytes_left_ > bytes;
  }

  std::string text() const {
    std::string text;
    std::int64_t shown = 0;
    const auto add = [&](const std::string& line) {
      if (!text.empty()) text += '\n';
      text += line;
    };
    const auto count_until = [&](std::int64_t next) {
      const std::int64_t left_out = next - shown - 1;
      if (left_out > 0) {
        add(fmt::format("[... {} line{} left out]", left_out, left_out == 1 ? "" : "s"));
      }
    };
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!is_chosen_[i]) continue;
      count_until(lines_[i].number);
      add(shortened(lines_[i].text, kLineBytesMax));
      shown = lines_[i].number;
    }
    if (!lines_.empty()) count_until(lines_.back().number + 1);
    return text;
  }

 private:
  const std::vector<BuildLine>& lines_;
  std::vector<bool> is_chosen_;
  std::size_t lines_left_;
  std::size_t bytes_left_;
};

}  // namespace

bool looks_like_error(std::string_view line) {
  static const RE2 error(kError, RE2::Quiet);
  static const RE2 place(kPlace, RE2::Quiet);
  static const RE2 remark(kRemark, RE2::Quiet);
  static const RE2 none(kNoError, RE2::Quiet);
  const re2::StringPiece text(line.data(), line.size());
  if (RE2::PartialMatch(text, error)) return !RE2::PartialMatch(text, none);
  return RE2::PartialMatch(text, place) && !RE2::PartialMatch(text, remark);
}

std::string build_excerpt(const std::vector<BuildLine>& lines, std::size_t lines_max,
                          std::size_t bytes_max) {
  Choice choice(lines, lines_max, bytes_max);
  // The last lines get what the errors leave, a third at least.
  const auto has_room = [&] { return choice.has_more_than(lines_max / 3, bytes_max / 3); };
  for (std::size_t i = 0; i < lines.size() && has_room(); ++i) {
    if (!looks_like_error(lines[i].text)) continue;
    const std::size_t end = std::min(lines.size(), i + 1 + std::size_t{kLinesBehindError});
    for (std::size_t j = i; j < end && has_room(); ++j) choice.take(j);
  }
  for (std::size_t i = lines.size(); i > 0 && choice.take(i - 1); --i) {
  }
  return choice.text();
}

}  // namespace sitter
