#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sitter/limits.hpp"

namespace sitter {

/// One wire line without its line end. A view: it lives until the next input, and
/// `limits::kLinePadding` bytes behind it are readable, whatever stands there.
class Line {
 public:
  constexpr Line() = default;

  /// The caller promises the padding.
  static constexpr Line padded(std::string_view text) { return Line(text); }

  constexpr std::string_view text() const { return text_; }

  friend bool operator==(const Line&, const Line&) = default;

 private:
  explicit constexpr Line(std::string_view text) : text_(text) {}

  std::string_view text_;
};

/// A line that outlives its input, with the padding that `Line` promises.
class OwnedLine {
 public:
  OwnedLine() = default;
  explicit OwnedLine(std::string_view text);
  explicit OwnedLine(std::string text);
  /// A copy of the string would leave the padding behind; a move takes it along.
  OwnedLine(OwnedLine&&) = default;
  OwnedLine& operator=(OwnedLine&&) = default;

  Line line() const { return Line::padded(text_); }
  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }

 private:
  std::string text_;
};

/// A line to be written: what stands before a change, the change, what stands behind it. The two
/// views live until the next input, so that nothing is copied of a line that only passes.
struct Outgoing {
  std::string_view head;
  std::string middle;
  std::string_view tail;

  static Outgoing passed(Line line) { return {line.text(), {}, {}}; }
  static Outgoing own(std::string text) { return {{}, std::move(text), {}}; }

  /// `line` with `replaced`, a part of it, exchanged for `by`.
  static Outgoing spliced(Line line, std::string_view replaced, std::string by);

  std::size_t size() const { return head.size() + middle.size() + tail.size(); }
  std::string text() const;

  /// Makes it independent of the current input.
  void keep();
};

}  // namespace sitter
