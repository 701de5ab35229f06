#include "core/tool_server/call_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/base/base64.hpp"
#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/child/child_end.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/reply.hpp"
#include "sitter/cli.hpp"

namespace sitter {
namespace {

/// How much of a name or a part of a schema a text shows, in bytes.
constexpr std::size_t kToolShownMax = 1000;

std::string name_of(const CliTool& tool) { return brief(tool.name, kToolShownMax); }

/// A result with these texts, each as a block of its own.
std::string error_result(const std::string& output, const std::string& words) {
  const std::string before = output.empty() ? "" : text_block(output) + ",";
  return fmt::format(R"json({{"content":[{}{}],"isError":true}})json", before, text_block(words));
}

std::string failure(const CliTool& tool, const RunOutcome& outcome) {
  const std::string why = outcome.stopped.empty()
                              ? fmt::format("has failed: {}", status_words(outcome.status))
                              : outcome.stopped;
  std::string words = fmt::format("[mcp-sitter] the command of `{}` {}", name_of(tool), why);
  if (!outcome.error_lines.empty()) {
    words += fmt::format("; its stderr says:\n{}", fmt::join(outcome.error_lines, "\n"));
  }
  return error_result(outcome.output.text(), words);
}

/// Whether the bytes are one JSON object that everybody can read.
bool is_json_object(std::string_view bytes) {
  return is_object(bytes) && !is_nested_deeper(bytes, limits::kNestingMax) &&
         // The library takes a NUL for the end.
         bytes.find('\0') == bytes.npos && nlohmann::json::accept(bytes.begin(), bytes.end());
}

bool is_text(std::string_view raw) { return raw.starts_with('"'); }

/// Whether clients take this as a block of a result.
bool is_block(std::string_view block) {
  const auto [type, text, data, media_type, uri, name, resource] =
      members<7>(block, {"type", "text", "data", "mimeType", "uri", "name", "resource"});
  const std::string kind = string_value(type);
  if (kind == "text") return is_text(text);
  if (kind == "image" || kind == "audio") return is_text(data) && is_text(media_type);
  if (kind == "resource_link") return is_text(uri) && is_text(name);
  return kind == "resource" && is_text(member(resource, "uri")) &&
         (is_text(member(resource, "text")) || is_text(member(resource, "blob")));
}

/// Whether clients take this as the result of a call.
bool is_call_result(std::string_view object) {
  const auto [content, structured, is_error, meta, type] =
      members<5>(object, {"content", "structuredContent", "isError", "_meta", "resultType"});
  const auto blocks = json_elements(content);
  return is_array(content) && std::all_of(blocks.begin(), blocks.end(), is_block) &&
         (structured.empty() || is_object(structured)) && (meta.empty() || is_object(meta)) &&
         (type.empty() || string_value(type) == "complete") &&
         (is_error.empty() || is_error == "true" || is_error == "false");
}

/// What is wrong with the structured content of a tool that promises some. `instead` says what the
/// command has written if there is none.
std::optional<std::string> misfit(const CliTool& tool, std::string_view structured,
                                  std::string_view instead) {
  if (!tool.output) return {};
  const std::string subject = fmt::format("[mcp-sitter] the command of `{}` has ", name_of(tool));
  if (structured.empty()) {
    return fmt::format("{}written {}, and its outputSchema promises an object", subject, instead);
  }
  const auto violation = tool.output->check(structured);
  if (!violation) return {};
  return subject +
         fmt::format(
             "written an object that does not fit its outputSchema: {} {}; this "
             "part of the schema says {}",
             violation->place.empty() ? "it" : '`' + brief(violation->place, kToolShownMax) + '`',
             violation->what, violation->part);
}

std::string media_result(const CliTool& tool, const RunOutcome& outcome, std::string_view kind) {
  if (!outcome.output.is_whole()) {
    return error_result(
        {}, fmt::format("[mcp-sitter] the command of `{}` has written {} bytes, and "
                        "an {} result may have at most {}",
                        name_of(tool), outcome.output.size(), kind, limits::kRunOutputMax));
  }
  return fmt::format(R"json({{"content":[{{"type":"{}","data":"{}","mimeType":{}}}]}})json", kind,
                     base64(outcome.output.bytes()), json_string(tool.content_type));
}

}  // namespace

std::string call_result(const CliTool& tool, const RunOutcome& outcome) {
  const bool has_worked = outcome.stopped.empty() && !outcome.status.by_signal() &&
                          tool.ok_exit_codes.contains(outcome.status.code);
  if (!has_worked) return failure(tool, outcome);
  for (const std::string_view kind : {"image", "audio"}) {
    if (tool.content_type.starts_with(std::string(kind) + "/") && outcome.output.size() > 0)
      return media_result(tool, outcome, kind);
  }
  const std::string bytes = outcome.output.is_whole() ? outcome.output.bytes() : std::string();
  const std::string_view trimmed = json_trimmed(bytes);
  const bool is_structured = is_json_object(trimmed);
  const bool is_result = is_structured && is_call_result(trimmed);
  const std::string_view structured = is_result       ? member(trimmed, "structuredContent")
                                      : is_structured ? trimmed
                                                      : std::string_view();
  const bool is_error_result = is_result && member(trimmed, "isError") == "true";
  if (!is_error_result) {
    const std::string instead =
        is_result ? "a result without structuredContent"
        : outcome.output.is_whole()
            ? "no JSON object to its stdout"
            : fmt::format("{} bytes to its stdout, more than the {} that are read",
                          outcome.output.size(), limits::kRunOutputMax);
    if (const auto wrong = misfit(tool, structured, instead))
      return error_result(outcome.output.text(), *wrong);
  }
  if (is_result) return as_wire_line(std::string(trimmed));
  const std::string text = text_block(outcome.output.text());
  if (!is_structured) return fmt::format(R"json({{"content":[{}]}})json", text);
  return fmt::format(R"json({{"content":[{}],"structuredContent":{}}})json", text,
                     as_wire_line(std::string(trimmed)));
}

}  // namespace sitter
