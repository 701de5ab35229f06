#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace sitter {

/// What the viewer sees. Each line is written at once.
class Screen {
 public:
  enum class Look { plain, title, quiet, notice, added, removed, good, bad };

  struct Options {
    bool has_color = false;
    /// No line is longer. 0: no line is broken.
    std::size_t columns = 0;
    /// Gets all bytes.
    std::function<void(std::string_view)> write;
    /// Waits, so that the viewer can read.
    std::function<void(std::chrono::milliseconds)> wait;
  };
  explicit Screen(Options options) : options_(std::move(options)) {}

  /// Shows a text, which may have several lines, behind a label in grey. Further lines are indented
  /// like the first.
  void show(std::string_view label, std::string_view text, Look look = Look::plain);
  void gap() { options_.write("\n"); }

  /// Gives the viewer the time to read what was shown since the last pause, and a little more.
  void pause();

 private:
  std::string colored(std::string_view text, Look look) const;

  Options options_;
  std::size_t unread_beats_ = 1;
};

}  // namespace sitter
