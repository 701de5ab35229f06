#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/generation.hpp"
#include "sitter/limits.hpp"

namespace sitter {

/// The last lines that the children wrote to stderr, over all generations; or the last ones of a
/// build.
///
/// What goes in is cleaned at once, so every text that comes out is valid UTF-8 without control
/// sequences. The lines, their bytes and the bytes of each are bounded; the oldest lines go first.
class StderrRing {
 public:
  struct Query {
    /// How many of the newest matching lines.
    std::size_t lines = 200;
    /// Only lines of the newest generation.
    bool since_spawn = false;
    std::optional<Generation> generation = std::nullopt;
    /// A pattern in RE2 syntax; empty matches every line.
    std::string grep = {};
  };

  struct Answer {
    std::string text;
    /// The text is a sentence about a wrong pattern.
    bool is_error = false;

    friend bool operator==(const Answer&, const Answer&) = default;
  };

  /// `lines_max` of 0 counts as 1. `what`: what an empty answer says the lines are of.
  explicit StderrRing(std::size_t lines_max = limits::kStderrLinesDefault,
                      std::string_view what = "child stderr")
      : lines_max_(std::max<std::size_t>(lines_max, 1)), what_(what) {}

  /// Lines of another generation are set apart by a mark; call it at every start that worked.
  void child_started(Generation gen, std::int64_t pid);

  /// A line without its line end. `bytes_cut` are those at its end that its reader has dropped.
  void add(Generation gen, std::string_view line, std::size_t bytes_cut = 0);

  /// Puts the lines of a ring that was kept apart behind these. It has no marks.
  void append(StderrRing other);

  /// A line that the child wrote to its stdout although it is no message; marked "[stdout] ".
  void add_stdout(Generation gen, std::string_view line, std::size_t bytes_cut = 0);

  /// Lines with "\n" between them, the oldest first; a sentence in parentheses if there are none.
  Answer text(const Query& query) const;

  /// All lines, the oldest first, as long as nothing is added.
  std::vector<std::string_view> lines() const;

  /// The last words of one child: its newest lines, at most so many and so many bytes (more only by
  /// the mark of a cut line); empty if there are none.
  std::string tail(Generation gen, std::size_t lines_max = limits::kReportLinesMax,
                   std::size_t bytes_max = limits::kReportBytesMax) const;

 private:
  struct Entry {
    Generation gen = kNoGeneration;
    /// Set on the mark between generations.
    bool is_mark = false;
    std::string text;
  };

  void push(Entry entry);

  std::size_t lines_max_;
  std::string what_;
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::size_t line_count_ = 0;
  Generation newest_ = kNoGeneration;
};

}  // namespace sitter
