#include "core/build/build_excerpt.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// A compiler may quote whole lines of generated code.
constexpr std::size_t kLineBytesMax = limits::kBuildErrorBytesMax;
/// Room for the mark of a shortened line, and for the text that counts the lines left out before
/// it.
constexpr std::size_t kLineBytesOnTop = 48 + 32;
/// The words with which most tools report an error.
constexpr const char* kError =
    R"re((?i)\b(error|errors|fatal|failed|failure|panic|panicked|exception|traceback|undefined reference|unresolved|cannot find|could not|not found|no rule to make)\b)re";
/// Go's compiler writes only the place before a message.
constexpr const char* kPlace = R"re(^\S+:\d+:(\d+:)? )re";
/// The words of messages that have a place but are not errors.
constexpr const char* kRemark = R"re((?i)\b(warning|note|remark|info|hint)\b)re";
/// A summary that counts no errors.
constexpr const char* kNoError = R"re((?i)\b(0|no) (errors?|failures?|failed)\b)re";

/// Selects lines as long as there is room.
class Choice {
 public:
  Choice(const std::vector<BuildLine>& lines, std::size_t lines_max, std::size_t bytes_max)
      : lines_(lines), is_chosen_(lines.size()), lines_left_(lines_max), bytes_left_(bytes_max) {}

  /// Returns false if there is no room for the line.
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

  /// Whether there is room for more than this many lines and bytes.
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
  // The last lines get the room that the errors leave, which is at least a third.
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
