#include "core/tool_server/text_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/text.hpp"

namespace sitter {
namespace {

/// How much of a name a complaint shows, in bytes.
constexpr std::size_t kPieceShownMax = 100;

constexpr bool is_letter(char c) { return is_ascii_letter(c) || c == '_'; }

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_ascii_digit(c) || c == '-' || c == '.';
         });
}

}  // namespace

TextTemplate TextTemplate::read(std::string_view text, const std::set<std::string>& known) {
  TextTemplate made;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) made.pieces_.push_back({std::exchange(literal, {}), false});
  };
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    literal.append(text.substr(0, open));
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t depth = text.starts_with("{{") ? 2 : 1;
    const std::size_t close = text.find_first_of("{}", depth);
    const bool is_closed = close != text.npos && text[close] == '}';
    const std::string name(is_closed ? text.substr(depth, close - depth) : "");
    const bool is_place = is_name(name) || known.contains(name);
    if (is_place && depth == 1) {
      end_literal();
      made.pieces_.push_back({name, true});
      text.remove_prefix(close + 1);
    } else if (is_place && text.substr(close).starts_with("}}")) {
      literal.append("{").append(name).append("}");
      text.remove_prefix(close + 2);
    } else {
      literal.push_back('{');
      text.remove_prefix(1);
    }
  }
  end_literal();
  return made;
}

bool TextTemplate::is_literal() const {
  return std::none_of(pieces_.begin(), pieces_.end(),
                      [](const Piece& one) { return one.is_place; });
}

std::string TextTemplate::literal() const {
  return pieces_.empty() ? std::string() : pieces_.front().text;
}

std::set<std::string> TextTemplate::names() const {
  std::set<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.is_place) names.insert(piece.text);
  }
  return names;
}

std::variant<std::optional<std::string>, Complaint> TextTemplate::fill(
    const RunArguments& arguments, bool allows_nul) const {
  std::string filled;
  for (const Piece& piece : pieces_) {
    if (!piece.is_place) {
      filled += piece.text;
      continue;
    }
    if (arguments.kind(piece.text) == RunArguments::Kind::missing) return std::nullopt;
    const auto text = arguments.text(piece.text);
    if (!text || (!allows_nul && text->find('\0') != std::string::npos)) {
      return Complaint{fmt::format("the argument `{}` has {}", brief(piece.text, kPieceShownMax),
                                   text ? "a NUL character, which cannot be passed on"
                                        : "half of a surrogate pair, which no text can hold")};
    }
    if (filled.size() + text->size() > limits::kInputBytesMax) {
      return Complaint{fmt::format("the argument `{}` makes a text of more than {} bytes",
                                   brief(piece.text, kPieceShownMax), limits::kInputBytesMax)};
    }
    filled += *text;
  }
  return filled;
}

}  // namespace sitter
