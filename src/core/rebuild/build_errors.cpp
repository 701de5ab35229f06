#include "core/rebuild/build_errors.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/last_words.hpp"

namespace sitter {
namespace {

/// Python prints a frame and up to three lines of its source before the error.
constexpr std::size_t kLinesOfFrame = 4;

/// A pattern that matches anywhere in a line.
class Pattern {
 public:
  explicit Pattern(const std::string& text) : expression_(text, RE2::Quiet) {}
  bool matches(std::string_view line) const {
    return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), expression_);
  }

 private:
  RE2 expression_;
};

/// A place in a file: "a.c:3:5:", "a.ts(1,2):", "main.c:(.text+0x9):", "A.java:[3,5]".
const std::string kPlace =
    R"re((?:\S:\d+(?::\d+)?(?:[:,)\]\s]|$)|\(\d+(?:,\d+)*\)\s*:|:\(\.[\w.]+\+0x[0-9a-f]+\):|:\[\d+,\d+\]))re";

bool has_place(std::string_view line) {
  static const Pattern place(kPlace);
  return place.matches(line);
}

/// Go's compiler writes only the place before a message.
bool begins_with_place(std::string_view line) {
  static const Pattern place(R"re(^\S*\.[A-Za-z]\w*:\d+:\d+: \S)re");
  return place.matches(line);
}

/// A place in a file and nothing else.
bool is_bare_place(std::string_view line) {
  static const Pattern place(R"re(^\S+:\d+$)re");
  return place.matches(line);
}

/// A message that is not an error, or a part of the way to an error.
bool is_remark(std::string_view line) {
  static const Pattern begin(
      R"re((?i)^\s*(= |\[|CMake |Deprecation )*(warning|warn|note|remark|info|hint|help)([\]:(\[ ]|$))re"
      R"re(|^\s*(candidates?[: ]|In file included from |from \S+:\d+|at \S))re"
      R"re(|^\S+: (?-i:In|At) |: in function )re");
  static const Pattern behind_place(
      "(?i)" + kPlace +
      R"re(([\s:-]*(warning|note|remark|info|hint|help|candidate|required|recursively|instantiated)\b|\s{2,}in ))re");
  static const Pattern error("(?i)" + kPlace +
                             R"re([\s:-]*((fatal|syntax|internal compiler) )?error\b)re");
  return begin.matches(line) || (behind_place.matches(line) && !error.matches(line));
}

/// A line that only counts errors, or says which step of the build they have stopped.
bool is_summary(std::string_view line) {
  static const Pattern summary(
      R"re((?i)^\W*(\d+ warnings? and )?(\d+|no) (errors?|failures?|failed|warning\(s\)|error\(s\))(\W|$))re"
      R"re(|\bfound \d+ errors?\b|\btoo many errors\b|\berrors occurred\b|because of errors)re"
      R"re(|\bg?make(\[\d+\])?: \*\*\* (\[|waiting))re"
      R"re(|^FAILED: |^ninja: build stopped|^npm (ERR!|error))re"
      R"re(|^error: (could not compile|aborting due to)|\bbuild failed\b|\bcompilation error\b)re"
      R"re(|\bexit(ed with)? (code|status):? -?\d|\(exit \d+\)|\bld returned \d)re"
      R"re(|\bfatal error LNK1120\b)re");
  return summary.matches(line);
}

/// A line of source with a margin, as gcc, clang and rustc print it, or the place that rustc prints
/// above it.
bool has_margin(std::string_view line) {
  static const Pattern margin(R"re(^\s*(\d*\s*\||-->|:::|\d+ [+~-] )|^\.\.\.$)re");
  return margin.matches(line);
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::size_t indent(std::string_view line) { return line.find_first_not_of(" \t"); }

bool is_indented(std::string_view line) { return !is_blank(line) && indent(line) > 0; }

/// Marks a part of the line of source above it.
bool is_underline(std::string_view line) {
  return is_indented(line) && line.find_first_not_of(" \t~^") == std::string_view::npos;
}

/// The text by which an error is known again. Some tools repeat all errors at the end, with another
/// indent.
std::string_view known_by(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t0123456789>"), line.size()));
}

class Search {
 public:
  Search(const std::vector<BuildLine>& lines, bool needs_places)
      : lines_(lines), needs_places_(needs_places) {
    found_.is_remark.resize(lines_.size());
  }

  BuildErrors run() {
    for (std::size_t i = 0; i < lines_.size();) i = go_on_from(i);
    return std::move(found_);
  }

 private:
  /// Handles the line and the lines of source that belong to it. Returns the next line.
  std::size_t go_on_from(std::size_t i) {
    if (const auto frame = frame_before(i)) {
      add({i, *frame, i}, i + 1);
      return i + 1;
    }
    const std::size_t end = end_of_source(i + 1);
    if (is_remark(text(i)) || has_margin(text(i))) {
      ignore(i, end);
      return end;
    }
    if (!is_error(i)) return i + 1;
    // tsc leaves a blank line before the source.
    if (follows(i + 1) && is_blank(text(i + 1)) && is_underline(text(i + 3))) {
      add({i, i + 2, i + 4}, i + 4);
      return i + 4;
    }
    add({i, i + 1, end}, end);
    return end;
  }

  /// `end`: the end of the error and its source.
  void add(BuildError error, std::size_t end) {
    std::string key(known_by(text(error.line)));
    if (!has_place(text(error.line)) && error.source_begin < error.source_end) {
      key += text(error.source_begin);
    }
    if (known_.insert(std::move(key)).second) {
      found_.errors.push_back(error);
    } else {
      ignore(std::min(error.line, error.source_begin), end);
    }
  }

  void ignore(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) found_.is_remark[i] = true;
  }

  /// The index of the last frame of the traceback that this line ends, or of the place above it.
  std::optional<std::size_t> frame_before(std::size_t i) const {
    static const Pattern last(R"re(^\s*[A-Za-z_][\w.]*(:|$))re");
    static const Pattern frame(R"re(^\s*File ".*", line \d+)re");
    if (!last.matches(text(i))) return std::nullopt;
    if (const auto place = place_before(i)) return place;
    for (std::size_t j = i; j-- > 0 && i - j <= kLinesOfFrame;) {
      if (is_blank(text(j)) || indent(text(j)) <= indent(text(i))) break;
      if (frame.matches(text(j))) return j;
    }
    return std::nullopt;
  }

  /// Node.js writes the place, a line of source with a mark below it, and then the error.
  std::optional<std::size_t> place_before(std::size_t i) const {
    while (i > 0 && is_blank(text(i - 1))) --i;
    if (i < 3 || !is_underline(text(i - 1)) || !is_bare_place(text(i - 3))) return std::nullopt;
    return i - 3;
  }

  std::size_t end_of_source(std::size_t begin) const {
    const bool is_in_margin = has_margin(text(begin));
    const std::size_t lines_max =
        is_in_margin ? limits::kErrorSourceLinesMax : std::size_t{kLinesBehindError};
    std::size_t end = begin;
    while (end - begin < lines_max && follows(end) &&
           (is_in_margin ? has_margin(text(end)) : may_be_source(end))) {
      ++end;
    }
    return end;
  }

  /// Whether the line is part of the message or of the source above it.
  bool may_be_source(std::size_t i) const {
    // clang may print source without an indent, and marks a part of it.
    return (is_indented(text(i)) || is_underline(text(i + 1))) && !is_remark(text(i)) &&
           !is_summary(text(i)) && !is_at_place(i);
  }

  bool is_error(std::size_t i) const {
    if (is_summary(text(i)) || is_bare_place(text(i))) return false;
    return needs_places_ ? is_at_place(i) : looks_like_error(text(i));
  }

  /// Whether the line is an error with a place in a file, or from a tool that names its kind
  /// (MSBuild).
  bool is_at_place(std::size_t i) const {
    static const Pattern kind(R"re(^\S.* : (fatal )?error [A-Z]+\d+\b)re");
    static const Pattern rust(R"re(^error(\[\w+\])?: )re");
    static const Pattern rust_place(R"re(^\s*--> \S+:\d+:\d+)re");
    const std::string_view line = text(i);
    return (has_place(line) && has_error_word(line)) || begins_with_place(line) ||
           kind.matches(line) || (rust.matches(line) && rust_place.matches(text(i + 1)));
  }

  /// Whether this line directly follows the line before it in the output.
  bool follows(std::size_t i) const {
    return i > 0 && i < lines_.size() && lines_[i].number == lines_[i - 1].number + 1;
  }
  std::string_view text(std::size_t i) const {
    return i < lines_.size() ? lines_[i].text : std::string_view();
  }

  const std::vector<BuildLine>& lines_;
  const bool needs_places_;
  BuildErrors found_;
  std::set<std::string> known_;
};

}  // namespace

bool looks_like_error(std::string_view line) {
  // A summary that counts no errors.
  static const Pattern none(R"re((?i)\b(0|no) (errors?|failures?|failed)\b)re");
  if (has_error_word(line)) return !none.matches(line);
  return begins_with_place(line) && !is_remark(line);
}

BuildErrors find_errors(const std::vector<BuildLine>& lines) {
  BuildErrors found = Search(lines, true).run();
  return found.errors.empty() ? Search(lines, false).run() : found;
}

}  // namespace sitter
