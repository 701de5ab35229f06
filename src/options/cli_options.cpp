#include "options/cli_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "io/process/end_words.hpp"
#include "options/suggestion.hpp"

namespace sitter {
namespace {

constexpr const char* kOpenQuote =
    "has a quote that does not end: add the other one, or put \\ before it";

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;  // what cannot be looked at is no file
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::optional<std::vector<std::string>> split_words(const std::string& text) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && is_blank) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') return {};
  return words;
}

std::string pattern_of_file(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    const bool is_special = std::string_view("*?[\\").find(c) != std::string_view::npos;
    if (is_special || (c == '!' && pattern.empty())) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::variant<CliBackend::Options, std::string> cli_options(const RawCli& raw,
                                                           const std::string& cwd,
                                                           LaunchRequest& command) {
  // A path may have blanks.
  auto words = is_file(std::filesystem::path(cwd) / raw.tool) ? std::optional(std::vector{raw.tool})
                                                              : split_words(raw.tool);
  if (!words || words->empty() || words->front().empty()) {
    return fmt::format("--cli: {} {}", shown_value(raw.tool),
                       words ? "names no tool: name one, as in --cli ./notes" : kOpenQuote);
  }
  auto schema = split_words(raw.schema_arguments);
  if (!schema || (schema->empty() && raw.schema_file.empty())) {
    return fmt::format("--schema-args: {} {}", shown_value(raw.schema_arguments),
                       schema ? "has no words; a file with the description is named with "
                                "--schema-file"
                              : kOpenQuote);
  }
  command.command = words->front();
  command.arguments.assign(words->begin() + 1, words->end());

  CliBackend::Options options;
  CliServer::Options& server = options.server;
  const std::filesystem::path program = words->back();
  server.name = program.stem().generic_string();
  server.tool_names = {*words, {raw.tool}, {words->back()}, {program.filename().generic_string()}};
  if (raw.schema_file.empty()) {
    server.description_arguments = *std::move(schema);
    server.description_source = fmt::format("{} {}", raw.tool, raw.schema_arguments);
  } else {
    options.description_file = (std::filesystem::path(cwd) / raw.schema_file).generic_string();
    server.description_source = raw.schema_file;
  }
  server.end_words = end_words();
  server.calls_max = static_cast<std::size_t>(raw.calls_max);
  server.call_timeout = milliseconds(raw.call_timeout);
  return options;
}

}  // namespace sitter
