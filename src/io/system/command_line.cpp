#include "io/system/command_line.hpp"

#include <algorithm>

namespace sitter {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Backslashes are doubled before a quote only.
std::string quoted_word(std::string_view word) {
  std::string text = "\"";
  std::size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') text.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    text += c;
  }
  text.append(backslashes, '\\');
  return text + '"';
}

/// Within quotes, cmd.exe takes every character as it is but the quote and the percent sign. A
/// quote is doubled, so that the text behind it is within quotes too; the C runtime makes one of
/// the two. Behind a percent sign stands the empty part of the variable `cd`, so that no name of a
/// variable is there.
std::string quoted_for_batch(std::string_view word) {
  std::string text = "\"";
  std::size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') {
      text.append(backslashes, '\\');
      text += '"';
    }
    backslashes = c == '\\' ? backslashes + 1 : 0;
    if (c == '%') {
      text += "%%cd:~,%";
    } else {
      text += c;
    }
  }
  text.append(backslashes, '\\');
  return text + '"';
}

}  // namespace

std::string command_line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool is_shell_command = line.ends_with(" /s /c");
    if (!line.empty()) line += ' ';
    const bool is_plain = !word.empty() && word.find_first_of(" \t\n\v\"") == word.npos;
    if (is_shell_command) {
      line += '"' + word + '"';
    } else {
      line += is_plain ? word : quoted_word(word);
    }
  }
  return line;
}

std::vector<std::string> words_of(std::string_view command_line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string> words;
  std::size_t at = command_line.find_first_not_of(kBlanks);
  while (at < command_line.size()) {
    const bool is_program = words.empty();
    std::string& word = words.emplace_back();
    bool is_quoted = false;
    for (; at < command_line.size(); ++at) {
      const char c = command_line[at];
      if (!is_quoted && kBlanks.find(c) != kBlanks.npos) break;
      if (c == '\\' && !is_program) {
        const std::size_t end =
            std::min(command_line.find_first_not_of('\\', at), command_line.size());
        const bool before_quote = command_line.substr(end).starts_with('"');
        word.append(before_quote ? (end - at) / 2 : end - at, '\\');
        const bool is_escaped = before_quote && (end - at) % 2 == 1;
        if (is_escaped) word += '"';
        at = is_escaped ? end : end - 1;
      } else if (c != '"') {
        word += c;
      } else if (is_quoted && !is_program && command_line.substr(at + 1).starts_with('"')) {
        word += '"';
        ++at;
      } else {
        is_quoted = !is_quoted;
      }
    }
    at = std::min(command_line.find_first_not_of(kBlanks, at), command_line.size());
  }
  return words;
}

bool is_batch_file(std::string_view path) {
  std::string ending(path.substr(path.size() - std::min<std::size_t>(path.size(), 4)));
  std::transform(ending.begin(), ending.end(), ending.begin(), lower);
  return ending == ".cmd" || ending == ".bat";
}

std::optional<std::string> batch_command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (word.find_first_of(std::string_view("\r\n\0", 3)) != word.npos) return std::nullopt;
    if (!line.empty()) line += ' ';
    line += quoted_for_batch(word);
  }
  // With /s, cmd.exe removes the outer quotes and nothing else. The switches do not depend on the
  // registry: no commands at the start (/d), the part of a variable (/e:on), and no other variables
  // (/v:off).
  return "cmd.exe /d /e:on /v:off /s /c \"" + line + '"';
}

}  // namespace sitter
