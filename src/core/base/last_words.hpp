#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// Whether a line has one of the words with which most programs report an error.
bool has_error_word(std::string_view line);

/// The lines of a program's stderr that say most about its end, at most `lines_max`, in their
/// order. Stack frames are left out, because a trace of Node.js or Go is longer than most places
/// for it, and the error stands above it. If the last error stands before the last lines, the lines
/// from it on are taken. The lines are views into `stderr_tail`.
std::vector<std::string_view> last_words(std::string_view stderr_tail, std::size_t lines_max);

/// The same for a stderr that comes line by line and may have no end. Keeps twice `lines_max`
/// lines.
class LastWords {
 public:
  explicit LastWords(std::size_t lines_max) : lines_max_(lines_max) {}

  void add(std::string line);
  std::vector<std::string> lines() const;

 private:
  std::size_t lines_max_;
  std::deque<std::string> last_;
  /// From the last error on.
  std::vector<std::string> from_error_;
  std::size_t since_error_ = 0;
};

}  // namespace sitter
