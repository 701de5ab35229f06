#include "core/report/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/json_text.hpp"
#include "core/report/lint_findings.hpp"
#include "core/schema/json_schema.hpp"
#include "core/schema/protocol_schema.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {
namespace {

using nlohmann::json;

constexpr std::string_view kRejected = "so clients reject the result";

struct MessageDefinition {
  Method method;
  std::string_view name;
  bool is_result = true;
};

/// The definitions of the messages that `lint_message` knows.
constexpr MessageDefinition kDefinitions[] = {
    {Method::server_discover, "DiscoverResult"},
    {Method::prompts_get, "GetPromptResult"},
    {Method::resources_read, "ReadResourceResult"},
    {Method::completion_complete, "CompleteResult"},
    {Method::progress, "ProgressNotification", false},
    {Method::logging_message, "LoggingMessageNotification", false},
    {Method::cancelled, "CancelledNotification", false},
    {Method::resources_updated, "ResourceUpdatedNotification", false},
    {Method::tools_list_changed, "ToolListChangedNotification", false},
    {Method::prompts_list_changed, "PromptListChangedNotification", false},
    {Method::resources_list_changed, "ResourceListChangedNotification", false},
};

void lint_fit(std::string_view structured, std::string_view schema, Findings& findings) {
  if (!is_object(schema) || schema.size() > limits::kLintSchemaMax) return;
  for (const std::string_view value : {structured, schema}) {
    if (is_nested_deeper(value, limits::kNestingMax)) return;
  }
  auto violation = JsonSchema(schema, JsonSchema::Reading::of_clients).check(structured);
  if (!violation || violation->is_unchecked) return;
  const bool is_below = !violation->place.empty() && !violation->place.starts_with('[');
  violation->place.insert(0, is_below ? "structuredContent." : "structuredContent");
  findings.add("{}, but outputSchema asks for that, {}", words_of(*violation, ""), kRejected);
}

/// The text of the only block of text.
std::optional<std::string> only_text(std::string_view content) {
  std::optional<std::string> text;
  for (const std::string_view block : json_elements(content)) {
    if (string_value(member(block, "type")) != "text") continue;
    if (text) return std::nullopt;
    text = string_value(member(block, "text"));
  }
  return text;
}

/// Whether `whole` is this text, means the same, or holds such a value. Many servers put a value
/// that is not an object, or a file, into a member, and write the bare value as the text.
bool holds(const json& whole, const std::string& text, const json& meaning) {
  if (whole == meaning || (whole.is_string() && whole.get_ref<const std::string&>() == text)) {
    return true;
  }
  return whole.is_structured() && std::any_of(whole.begin(), whole.end(), [&](const json& part) {
           return holds(part, text, meaning);
         });
}

void leave_out_nulls(json& value) {
  if (!value.is_structured()) return;
  for (auto at = value.begin(); at != value.end();) {
    if (value.is_object() && at->is_null()) {
      at = value.erase(at);
    } else {
      leave_out_nulls(*at++);
    }
  }
}

void lint_text(std::string_view content, std::string_view structured, Findings& findings) {
  const auto text = only_text(content);
  if (!text || !has_json_grammar(*text)) return;
  for (const std::string_view value : {std::string_view(*text), structured}) {
    if (is_nested_deeper(value, limits::kNestingMax)) return;
  }
  json meaning = json::parse(*text, nullptr, false);
  json whole = json::parse(structured.begin(), structured.end(), nullptr, false);
  // Some servers leave them out of one of the two.
  leave_out_nulls(meaning);
  leave_out_nulls(whole);
  // The parser refuses numbers that no double can hold.
  if (meaning.is_discarded() || whole.is_discarded() || holds(whole, *text, meaning)) return;
  findings.add(
      "the text of a result says something other than structuredContent, {}show the model only one "
      "of the two",
      kSomeClients);
}

}  // namespace

std::vector<std::string> lint_result(Revision revision, std::string_view tool,
                                     std::string_view result, std::string_view output_schema) {
  Findings findings;
  findings.begin("tool " + in_quotes(tool));
  const auto [content, structured, is_error, result_type, task] =
      members<5>(result, {"content", "structuredContent", "isError", "resultType", "task"});
  if (!is_complete(result_type) || is_object(task)) return {};
  if (const auto violation = protocol_violation(revision, "CallToolResult", result)) {
    findings.add("{}, {}", words_of(*violation, "a result"), kRejected);
  } else if (is_there(structured)) {
    lint_fit(structured, output_schema, findings);
    lint_text(content, structured, findings);
  } else if (is_object(output_schema) && is_error != "true") {
    findings.add("a result has no structuredContent, but the tool has an outputSchema, {}",
                 kRejected);
  }
  return findings.take();
}

std::string lint_message(Revision revision, Method method, std::string_view message) {
  const auto* const definition =
      std::find_if(std::begin(kDefinitions), std::end(kDefinitions),
                   [&](const MessageDefinition& one) { return one.method == method; });
  if (definition == std::end(kDefinitions)) return {};
  // Only the stateless revision has this request, but a client may also send it in a session.
  if (method == Method::server_discover) revision = Revision::stateless;
  const auto violation = protocol_violation(revision, definition->name, message);
  if (!violation || !is_complete(member(message, "resultType"))) return {};
  return fmt::format("{}: {}, so clients reject {}", method_name(method),
                     words_of(*violation, definition->is_result ? "the result" : "it"),
                     definition->is_result ? "the result" : "the notification");
}

bool is_known_type(std::string_view result_type) {
  if (result_type == "\"complete\"") return true;
  const std::string type = string_value(result_type);
  return type == "complete" || type == "input_required" || type == "task";
}

std::string type_finding(Method method, std::string_view result_type) {
  const std::string_view name = method_name(method);
  const std::string what = result_type.empty()
                               ? "the result has no member `resultType`"
                               : fmt::format("resultType is {}", brief(result_type, 100));
  return fmt::format(
      "{}: {}, {}{}", name.empty() ? "another request" : name, what, kRejected,
      is_type_mended(method, result_type) ? R"(; mcp-sitter makes it "complete")" : "");
}

bool is_linted(Method method) {
  return std::any_of(std::begin(kDefinitions), std::end(kDefinitions),
                     [&](const MessageDefinition& one) { return one.method == method; });
}

}  // namespace sitter
