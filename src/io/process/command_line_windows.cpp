#include "io/process/command_line_windows.hpp"

#include <algorithm>
#include <cstddef>

#include "core/base/ascii.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

/// In a quoted word, backslashes count as such unless a quote follows them.
void add_quoted(std::string& line, std::string_view word, std::string_view quote) {
  line += '"';
  std::size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') {
      line.append(backslashes, '\\').append(quote);
    } else {
      line += c;
    }
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  line.append(backslashes, '\\') += '"';
}

bool needs_quotes(std::string_view word) {
  return word.empty() || word.find_first_of(" \t\n\v\"") != word.npos;
}

bool is_shell(std::string_view word) {
  const std::string name = ascii_lower(word.substr(word.find_last_of("/\\") + 1));
  return name == "cmd" || name == "cmd.exe";
}

/// cmd.exe takes out what is between two of these as the name of a variable. An empty part of a
/// variable that is always set, before each, makes them arrive (the command extensions of `set`).
std::string with_percent_signs(std::string_view word) {
  std::string result;
  for (const char c : word) {
    if (c == '%') result += "%%cd:~,";
    result += c;
  }
  return result;
}

}  // namespace

std::wstring command_line(const std::vector<std::string>& words) {
  std::string line;
  const bool has_shell = !words.empty() && is_shell(words.front());
  bool is_raw = false;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (is_raw) {
      line += '"' + word + '"';
    } else if (needs_quotes(word)) {
      add_quoted(line, word, "\\\"");
    } else {
      line += word;
    }
    is_raw = has_shell && ascii_lower(word) == "/c" && line.find(" /s ") != line.npos;
  }
  return windows::wide(line);
}

std::optional<std::wstring> batch_command_line(std::string_view shell, std::string_view file,
                                               const std::vector<std::string>& arguments) {
  if (file.find('"') != file.npos) return std::nullopt;
  std::string path(file);
  std::replace(path.begin(), path.end(), '/', '\\');
  std::string line = '"' + std::string(shell) + "\" /e:on /v:off /d /s /c \"\"" + path + '"';
  for (const std::string& word : arguments) {
    if (word.find_first_of(std::string_view("\r\n\0", 3)) != word.npos) return std::nullopt;
    line += ' ';
    std::string quoted;
    add_quoted(quoted, word, "\"\"");
    line += with_percent_signs(quoted);
  }
  line += '"';
  return windows::wide(line);
}

bool is_batch_file(std::string_view path) {
  const std::string lower = ascii_lower(path);
  return lower.ends_with(".bat") || lower.ends_with(".cmd");
}

}  // namespace sitter
