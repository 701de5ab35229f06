#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/bytes.hpp"
#include "sitter/generation.hpp"

namespace sitter {

namespace limits {

/// Bytes of the children's stderr that are kept: a thousand lines of 1 KiB.
inline constexpr std::size_t kStderrBytesMax = kMiB;

/// How much of the stderr a crash report quotes: enough for an assertion or a short stack trace.
/// The report is part of each answer to a call that the crash interrupted.
inline constexpr std::size_t kReportLinesMax = 20;
inline constexpr std::size_t kReportBytesMax = 4 * kKiB;

/// Among how many lines the cause is looked for. The trace of a Go or Rust program has 20 to 60
/// lines below it; an error further up is probably not the cause of the end.
inline constexpr std::size_t kCauseLinesMax = 100;

}  // namespace limits

/// The last lines that the children wrote to stderr, over all generations, or the last lines of a
/// build.
///
/// Each line is cleaned when it is added, so every text that comes out is valid UTF-8 without
/// control sequences. The number of lines, their total size and the size of each line are bounded.
/// The oldest lines are dropped first.
class StderrRing {
 public:
  struct Query {
    /// How many of the newest matching lines are wanted.
    std::size_t lines = 200;
    /// Only lines of the newest generation.
    bool since_spawn = false;
    std::optional<Generation> generation = std::nullopt;
    /// A pattern in RE2 syntax. An empty pattern matches every line.
    std::string grep = {};
  };

  struct Answer {
    std::string text;
    /// The text is a sentence about an invalid pattern.
    bool is_error = false;

    friend bool operator==(const Answer&, const Answer&) = default;
  };

  /// A `lines_max` of 0 counts as 1. `what` names the source of the lines in an empty answer.
  explicit StderrRing(std::size_t lines_max, std::string_view what = "child stderr")
      : lines_max_(std::max<std::size_t>(lines_max, 1)), what_(what) {}

  /// Must be called after every start that worked. A mark separates the lines of the new child from
  /// the lines before.
  void child_started(Generation gen, std::int64_t pid);

  /// Adds a line without its line end. The reader has dropped `bytes_cut` bytes at its end. A line
  /// that ends with a carriage return, as the updates of a progress bar do, is overwritten by the
  /// next line of the child. Returns whether the line has overwritten the one before.
  bool add(Generation gen, std::string_view line, std::size_t bytes_cut = 0);

  /// Appends the lines of a ring that was kept separately and has no marks.
  void append(StderrRing other);

  /// Adds a line that the child wrote to its stdout although the line is not a message. The line is
  /// marked with "[stdout] ".
  void add_stdout(Generation gen, std::string_view line, std::size_t bytes_cut = 0);

  /// The lines with "\n" between them, the oldest first. If there are none, a sentence in
  /// parentheses.
  Answer text(const Query& query) const;

  /// All lines, the oldest first. They are valid until a line is added.
  std::vector<std::string_view> lines() const;

  /// What a report quotes of one child: its newest lines, or, if none of these names an error, the
  /// lines from the last error on.
  std::string last_words(Generation gen) const;

  /// At most `lines_max` of the newest lines of one child, and at most `bytes_max` bytes besides
  /// the mark of a cut line. Empty if there are no lines.
  std::string tail(Generation gen, std::size_t lines_max, std::size_t bytes_max) const;

 private:
  struct Entry {
    Generation gen = kNoGeneration;
    /// True for the mark between generations.
    bool is_mark = false;
    std::string text;
    bool is_overwritten = false;
  };

  void push(Entry entry);
  void pop_newest();

  std::size_t lines_max_;
  std::string what_;
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::size_t line_count_ = 0;
  Generation newest_ = kNoGeneration;
};

}  // namespace sitter
