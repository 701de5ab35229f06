#include "core/rebuild/build_excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// A compiler may quote whole lines of generated code.
constexpr std::size_t kLineBytesMax = limits::kBuildErrorBytesMax;
/// Room for the mark of a shortened line.
constexpr std::size_t kCutBytes = 48;
/// Room for the text that counts the lines left out before a line.
constexpr std::size_t kCountBytes = 32;
/// Room for the headings of the excerpt of a failed build.
constexpr std::size_t kHeadingBytes = 128;
/// The part of the excerpt that errors leave to the last lines.
constexpr std::size_t kShareOfLastLines = 6;
/// How many of the last lines come before notes: they often sum up the build.
constexpr std::size_t kLastLines = 10;

/// Selects lines as long as there is room.
class Choice {
 public:
  Choice(const std::vector<BuildLine>& lines, std::size_t lines_max, std::size_t bytes_max)
      : lines_(lines),
        is_chosen_(lines.size()),
        lines_left_(lines_max),
        bytes_left_(bytes_max - std::min(bytes_max, kCountBytes)) {}

  void add_room(std::size_t lines, std::size_t bytes) {
    lines_left_ += lines;
    bytes_left_ += bytes;
  }

  /// Returns false if there is no room for the line.
  bool take(std::size_t index) {
    if (is_chosen_[index]) return true;
    const std::size_t length = lines_[index].text.size();
    std::size_t size = length > kLineBytesMax ? kLineBytesMax + kCutBytes : length;
    size += 1 + (is_beside_chosen(index) ? 0 : kCountBytes);
    if (lines_left_ == 0 || size > bytes_left_) return false;
    is_chosen_[index] = true;
    --lines_left_;
    bytes_left_ -= size;
    return true;
  }

  template <class Belongs>
  bool has_any(Belongs belongs) const {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (is_chosen_[i] && belongs(i)) return true;
    }
    return false;
  }

  /// Adds a line of the excerpt.
  void write(const std::string& line) {
    if (!text_.empty()) text_ += '\n';
    text_ += line;
  }
  void write_chosen(std::size_t index) {
    if (is_chosen_[index]) write(shortened(lines_[index].text, kLineBytesMax));
  }

  /// Writes the chosen lines for which `belongs(index)` is true, and counts the lines that are left
  /// out of the excerpt.
  template <class Belongs>
  void write_all(Belongs belongs) {
    std::int64_t left_out = 0;
    std::int64_t last = 0;
    const auto count = [&] {
      if (left_out > 0)
        write(
            fmt::format("[... {} left out]", counted(static_cast<std::size_t>(left_out), "line")));
      left_out = 0;
    };
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      left_out += lines_[i].number - last - (is_chosen_[i] ? 1 : 0);
      last = lines_[i].number;
      if (!is_chosen_[i] || !belongs(i)) continue;
      count();
      write_chosen(i);
    }
    count();
  }

  const std::string& text() const { return text_; }

 private:
  /// Whether no lines can be left out on one side of this line.
  bool is_beside_chosen(std::size_t index) const {
    const auto is_beside = [&](std::size_t before, std::size_t behind) {
      return lines_[before].number + 1 == lines_[behind].number;
    };
    return (index > 0 && is_chosen_[index - 1] && is_beside(index - 1, index)) ||
           (index + 1 < lines_.size() && is_chosen_[index + 1] && is_beside(index, index + 1));
  }

  const std::vector<BuildLine>& lines_;
  std::vector<bool> is_chosen_;
  std::size_t lines_left_;
  std::size_t bytes_left_;
  std::string text_;
};

}  // namespace

std::string build_excerpt(const std::vector<BuildLine>& lines, std::size_t lines_max,
                          std::size_t bytes_max) {
  // The last lines get the room that the errors leave, which is at least a third.
  Choice choice(lines, lines_max - lines_max / 3, bytes_max - bytes_max / 3);
  bool has_room = true;
  for (std::size_t i = 0; i < lines.size() && has_room; ++i) {
    if (!looks_like_error(lines[i].text)) continue;
    const std::size_t end = std::min(lines.size(), i + 1 + std::size_t{kLinesBehindError});
    for (std::size_t j = i; j < end && has_room; ++j) has_room = choice.take(j);
  }
  choice.add_room(lines_max / 3, bytes_max / 3);
  for (std::size_t i = lines.size(); i > 0 && choice.take(i - 1); --i) {
  }
  choice.write_all([](std::size_t) { return true; });
  return choice.text();
}

std::string failure_excerpt(const std::vector<BuildLine>& lines, std::size_t lines_max,
                            std::size_t bytes_max) {
  const auto [errors, is_remark] = find_errors(lines);
  if (errors.empty()) return build_excerpt(lines, lines_max, bytes_max);
  const std::size_t lines_kept = lines_max / kShareOfLastLines;
  const std::size_t bytes_kept = bytes_max / kShareOfLastLines;
  Choice choice(lines, lines_max - lines_kept,
                bytes_max - std::min(bytes_max, bytes_kept + kHeadingBytes));

  std::vector<bool> is_of_error(lines.size());
  std::size_t shown = 0;
  bool has_room = true;
  for (const BuildError& error : errors) {
    is_of_error[error.line] = true;
    has_room = has_room && choice.take(error.line);
    if (has_room) ++shown;
    for (std::size_t i = error.source_begin; i < error.source_end; ++i) {
      is_of_error[i] = true;
      has_room = has_room && choice.take(i);
    }
  }
  choice.add_room(lines_kept, bytes_kept);
  const auto is_other = [&](std::size_t i) { return !is_of_error[i] && !is_remark[i]; };
  const auto take_last = [&](std::size_t count) {
    for (std::size_t i = lines.size(); i > 0 && count > 0; --i) {
      if (!is_other(i - 1)) continue;
      if (!choice.take(i - 1)) return;
      --count;
    }
  };
  take_last(kLastLines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_remark[i] && !choice.take(i)) break;
  }
  take_last(lines.size());

  // Errors may be lost in output that was not kept.
  const bool is_whole = lines.back().number == static_cast<std::int64_t>(lines.size());
  choice.write((is_whole ? "" : "at least ") + counted(errors.size(), "error") + ":");
  for (const BuildError& error : errors) {
    choice.write_chosen(error.line);
    for (std::size_t i = error.source_begin; i < error.source_end; ++i) choice.write_chosen(i);
  }
  if (shown < errors.size()) {
    choice.write(fmt::format("[... {} left out]", counted(errors.size() - shown, "error")));
  }
  if (choice.has_any(is_other)) choice.write("Other lines:");
  choice.write_all(is_other);
  const auto is_explanation = [&](std::size_t i) { return is_remark[i]; };
  if (choice.has_any(is_explanation)) choice.write("Notes and warnings:");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_remark[i]) choice.write_chosen(i);
  }
  return choice.text();
}

}  // namespace sitter
