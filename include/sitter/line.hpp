#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sitter {

struct MessagePlaces;

namespace limits {

/// simdjson reads whole vectors, so this many bytes after a line must be readable.
inline constexpr std::size_t kLinePadding = 64;

}  // namespace limits

/// One wire line without its line end. A view: it is valid until the next fact. At least
/// `limits::kLinePadding` bytes after it are readable, whatever they contain.
class Line {
 public:
  constexpr Line() = default;

  /// The caller promises the padding.
  static constexpr Line padded(std::string_view text, const MessagePlaces* places = nullptr) {
    return Line(text, places);
  }

  constexpr std::string_view text() const { return text_; }
  /// What was found out about a long line while it came in; null for any other line.
  constexpr const MessagePlaces* places() const { return places_; }

  friend bool operator==(const Line& a, const Line& b) { return a.text_ == b.text_; }

 private:
  constexpr Line(std::string_view text, const MessagePlaces* places)
      : text_(text), places_(places) {}

  std::string_view text_;
  const MessagePlaces* places_ = nullptr;
};

/// A line that stays valid after its fact, with the padding that `Line` promises.
class OwnedLine {
 public:
  OwnedLine() = default;
  explicit OwnedLine(std::string_view text);
  explicit OwnedLine(std::string text);
  /// A copy of the string would not copy the padding; a move keeps it.
  OwnedLine(OwnedLine&&) = default;
  /// The memory of the former text is given back. The assignment of a string may keep it.
  OwnedLine& operator=(OwnedLine&& other) noexcept;

  Line line() const { return Line::padded(text_); }
  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }

 private:
  std::string text_;
};

/// A line to be written, in three parts: the text before a change, the changed text, and the text
/// after it. The two views are valid until the next fact. So a line that only passes through is
/// not copied.
struct Outgoing {
  std::string_view head;
  std::string middle;
  std::string_view tail;

  static Outgoing passed(Line line) { return {line.text(), {}, {}}; }
  static Outgoing own(std::string text) { return {{}, std::move(text), {}}; }

  /// `line`, with its part `replaced` replaced by `by`.
  static Outgoing spliced(Line line, std::string_view replaced, std::string by);

  /// Whether it is a line that only passes through.
  bool is_unchanged() const { return middle.empty() && tail.empty(); }
  std::size_t size() const { return head.size() + middle.size() + tail.size(); }
  std::string text() const;

  /// Copies the text, so that it no longer depends on the current fact.
  void keep();
};

}  // namespace sitter
