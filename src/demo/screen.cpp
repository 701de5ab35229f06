#include "demo/screen.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "terminal/format.hpp"

namespace sitter {
namespace {

/// A pause is a multiple of this, so that a recording can tell it from the time that servers take.
constexpr std::chrono::milliseconds kBeat{500};
/// As many characters as a viewer skims in a beat.
constexpr std::size_t kCharactersPerBeat = 100;

const char* code_of(Screen::Look look) {
  switch (look) {
    case Screen::Look::plain:
      return "";
    case Screen::Look::title:
      return "\033[1m";
    case Screen::Look::quiet:
      return "\033[90m";
    case Screen::Look::notice:
      return "\033[36m";
    case Screen::Look::added:
      return "\033[32m";
    case Screen::Look::removed:
      return "\033[31m";
    case Screen::Look::good:
      return "\033[1;32m";
    case Screen::Look::bad:
      return "\033[1;31m";
  }
  return "";
}

}  // namespace

std::string Screen::colored(std::string_view text, Look look) const {
  if (!options_.has_color || look == Look::plain || text.empty()) return std::string(text);
  return code_of(look) + std::string(text) + "\033[0m";
}

void Screen::show(std::string_view label, std::string_view text, Look look) {
  const std::size_t indent = character_count(label);
  const std::size_t room =
      options_.columns == 0 ? 0 : std::max<std::size_t>(options_.columns, indent + 1) - indent;
  const std::string shown = readable(text);
  std::string lines;
  std::string_view rest = shown;
  bool is_first = true;
  do {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    for (const std::string& line : wrapped(rest.substr(0, end), room)) {
      lines += is_first ? colored(label, Look::quiet) : std::string(indent, ' ');
      lines += colored(line, look) + '\n';
      is_first = false;
    }
    unread_beats_ += 1 + end / kCharactersPerBeat;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  } while (!rest.empty());
  options_.write(lines);
}

void Screen::pause() { options_.wait(kBeat * std::exchange(unread_beats_, 1)); }

}  // namespace sitter
