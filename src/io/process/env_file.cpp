#include "io/process/env_file.hpp"

#include <algorithm>
#include <optional>

#include "core/base/ascii.hpp"

namespace sitter {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";

bool is_blank_or_comment(std::string_view text) { return text.empty() || text.front() == '#'; }

std::string_view without_comment(std::string_view value) {
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (value[i] == '#' && kBlank.find(value[i - 1]) != std::string_view::npos) {
      return without_blanks(value.substr(0, i), kBlank);
    }
  }
  return value;
}

struct Entry {
  std::string_view name;
  std::string_view value;
};

// On failure, `error` gets a part of a sentence.
std::optional<Entry> parse_line(std::string_view line, std::string& error) {
  constexpr std::string_view kExport = "export";
  if (line.starts_with(kExport) && line.size() > kExport.size() &&
      kBlank.find(line[kExport.size()]) != std::string_view::npos) {
    line = without_blanks(line.substr(kExport.size()), kBlank);
  }
  std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    error = "there is no '=' in it (expected NAME=VALUE)";
    return std::nullopt;
  }
  std::string_view name = without_blanks(line.substr(0, equals), kBlank);
  if (name.empty() || name.find_first_of(kBlank) != std::string_view::npos) {
    error = "there is no valid name before the '='";
    return std::nullopt;
  }
  std::string_view value = without_blanks(line.substr(equals + 1), kBlank);
  if (value.empty() || (value.front() != '"' && value.front() != '\'')) {
    if (!value.empty() && value.front() == '#') value = {};
    return Entry{name, without_comment(value)};
  }
  std::size_t close = value.find(value.front(), 1);
  if (close == std::string_view::npos) {
    error = "the quote is not closed";
    return std::nullopt;
  }
  if (!is_blank_or_comment(without_blanks(value.substr(close + 1), kBlank))) {
    error = "there is text after the closing quote";
    return std::nullopt;
  }
  return Entry{name, value.substr(1, close - 1)};
}

}  // namespace

std::variant<std::vector<std::string>, EnvFileError> parse_env_file(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> entries;
  for (int number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = without_blanks(text.substr(0, end), kBlank);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_blank_or_comment(line)) continue;
    std::string error;
    if (line.find('\0') != std::string_view::npos) error = "there is a NUL byte in it";
    auto entry = error.empty() ? parse_line(line, error) : std::nullopt;
    if (!entry) return EnvFileError{"line " + std::to_string(number) + ": " + error};
    entries.push_back(std::string(entry->name) + '=' + std::string(entry->value));
  }
  return entries;
}

}  // namespace sitter
