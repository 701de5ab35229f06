#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tool_server/run_arguments.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

/// What is wrong with something that was given: a sentence or a clause without a full stop.
struct Complaint {
  std::string text;
};

namespace limits {

/// What a command reads from its stdin has at most this many bytes, and so have its variables and
/// its directory. A place may stand in them several times, and messages are far smaller.
inline constexpr std::size_t kInputBytesMax = 64 * kMiB;

}  // namespace limits

/// A text with places for the arguments of a call: `{name}` is the place of an argument, and
/// `{{name}}` is the text `{name}`. Other braces are text, since filters and formats have them.
class TextTemplate {
 public:
  struct Piece {
    /// The literal text, or the name of the argument.
    std::string text;
    bool is_place = false;
  };

  /// A name has letters, digits, `_`, `-` and `.`, and begins with a letter or `_`. A name in
  /// `known` may have any characters but `}`.
  static TextTemplate read(std::string_view text, const std::set<std::string>& known);

  const std::vector<Piece>& pieces() const { return pieces_; }
  /// The text has no place.
  bool is_literal() const;
  /// The text is one place, and nothing else.
  bool is_place() const { return pieces_.size() == 1 && pieces_.front().is_place; }
  /// The text of a template without a place.
  std::string literal() const;
  /// The names of the places.
  std::set<std::string> names() const;

  /// The text with the arguments in their places; a list is written as JSON. Nothing if an argument
  /// is missing. Of a text with NUL characters there is a complaint unless `allows_nul`.
  std::variant<std::optional<std::string>, Complaint> fill(const RunArguments& arguments,
                                                           bool allows_nul) const;

 private:
  std::vector<Piece> pieces_;
};

}  // namespace sitter
