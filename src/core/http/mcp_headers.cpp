#include "core/http/mcp_headers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/base64.hpp"
#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

using Param = ToolHeaders::Param;

constexpr std::string_view kAnnotation = "x-mcp-header";
constexpr std::string_view kEncodedPrefix = "=?base64?";
constexpr std::string_view kEncodedSuffix = "?=";

/// How many bytes of a name or of a path a reason shows.
constexpr std::size_t kShownMax = 100;

/// The largest integer that all languages read in the same way: JavaScript has only doubles.
constexpr double kIntegerMax = 9007199254740991;

bool looks_encoded(std::string_view text) {
  return text.starts_with(kEncodedPrefix) && text.ends_with(kEncodedSuffix);
}

/// What a request asks for, if its method asks for a thing with a name.
std::optional<std::string> name_of(const Message& message) {
  if (message.method == Method::tools_call || message.method == Method::prompts_get) {
    if (message.params.name_text.empty()) return std::nullopt;
    return std::string(message.params.name_text);
  }
  if (message.method == Method::resources_read) return json_decoded(message.params.uri);
  if (!message.method_text.starts_with("tasks/")) return std::nullopt;
  return json_decoded(member(message.params_raw, "taskId"));
}

/// Keywords of JSON Schema that lead to other schemas, besides `properties`: to one, or to an array
/// of them.
constexpr std::string_view kSchemaKeywords[] = {"additionalItems",
                                                "additionalProperties",
                                                "allOf",
                                                "anyOf",
                                                "contains",
                                                "contentSchema",
                                                "else",
                                                "if",
                                                "items",
                                                "not",
                                                "oneOf",
                                                "prefixItems",
                                                "propertyNames",
                                                "then",
                                                "unevaluatedItems",
                                                "unevaluatedProperties"};
/// Those that lead to an object of schemas.
constexpr std::string_view kMapKeywords[] = {"$defs", "definitions", "dependencies",
                                             "dependentSchemas", "patternProperties"};

template <std::size_t n>
bool contains(const std::string_view (&all)[n], std::string_view word) {
  return std::find(std::begin(all), std::end(all), word) != std::end(all);
}

/// Collects the annotations of one schema, up to the first that breaks a rule.
class Annotations {
 public:
  void read(std::string_view schema) {
    if (is_nested_deeper(schema, limits::kNestingMax)) {
      fault_ = fmt::format("the schema is nested deeper than {} levels", limits::kNestingMax);
    } else {
      visit(schema, true);
    }
  }

  const std::string& fault() const { return fault_; }
  std::vector<Param> take() { return std::move(params_); }

 private:
  /// `is_reachable`: only `properties` lead here.
  void visit(std::string_view schema, bool is_reachable) {
    if (!is_object(schema)) return;
    const std::vector<JsonMember> all = json_members(schema);
    if (std::any_of(all.begin(), all.end(), [](const auto& m) { return m.key == kAnnotation; })) {
      const auto [annotation, type] = members<2>(schema, {kAnnotation, "type"});
      read_annotation(annotation, type, is_reachable);
    }
    for (const auto& [key, value] : all) {
      if (key == "properties") {
        visit_members(value, is_reachable);
      } else if (contains(kMapKeywords, key)) {
        path_.push_back(key);
        visit_members(value, false);
        path_.pop_back();
      } else if (contains(kSchemaKeywords, key)) {
        visit_below(key, value, false);
        for (const std::string_view element : json_elements(value))
          visit_below(key, element, false);
      }
    }
  }

  void visit_members(std::string_view schemas, bool is_reachable) {
    for (const auto& [key, schema] : json_members(schemas)) visit_below(key, schema, is_reachable);
  }

  void visit_below(const std::string& key, std::string_view schema, bool is_reachable) {
    if (!fault_.empty()) return;
    path_.push_back(key);
    visit(schema, is_reachable);
    path_.pop_back();
  }

  void read_annotation(std::string_view annotation, std::string_view type, bool is_reachable) {
    if (!is_reachable || path_.empty()) {
      return refuse("is allowed only where a chain of \"properties\" leads");
    }
    const auto name = json_decoded(annotation);
    if (!name) return refuse("is not a string");
    if (name->empty()) return refuse("is empty");
    if (!std::all_of(name->begin(), name->end(), is_token_character)) {
      return refuse("has a character that names of headers do not have");
    }
    // The specification excludes "number", because languages write fractions in different ways.
    constexpr std::string_view kTypes[] = {"string", "integer", "boolean"};
    if (!contains(kTypes, string_value(type))) {
      return refuse("is allowed only for the types string, integer and boolean");
    }
    if (!names_.insert(ascii_lower(*name)).second) {
      return refuse(fmt::format("has the name \"{}\" twice", brief(*name, kShownMax)));
    }
    params_.push_back({path_, *name});
  }

  void refuse(std::string_view why) {
    const std::string path = fmt::format("{}", fmt::join(path_, "."));
    fault_ = fmt::format("{} of {} {}", kAnnotation,
                         path.empty() ? "the whole schema" : brief(path, kShownMax), why);
  }

  std::vector<std::string> path_;
  std::vector<Param> params_;
  std::set<std::string> names_;
  std::string fault_;
};

std::optional<std::string> number_text(std::string_view raw) {
  const auto value = nlohmann::json::parse(raw.begin(), raw.end(), nullptr, false);
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (number != std::floor(number)) return std::string(raw);
  if (std::abs(number) > kIntegerMax) return std::nullopt;
  return fmt::format("{}", static_cast<std::int64_t>(number));
}

/// The text of an argument; nothing if it is no primitive value.
std::optional<std::string> text_of(std::string_view raw) {
  if (raw == "true" || raw == "false") return std::string(raw);
  if (raw.starts_with('"')) return json_decoded(raw);
  return is_json_number(raw) ? number_text(raw) : std::nullopt;
}

std::string_view value_at(std::string_view raw, const std::vector<std::string>& path) {
  for (const std::string& key : path) raw = member(raw, key);
  return raw;
}

std::size_t memory_of(const Param& param) {
  std::size_t bytes = sizeof(Param) + param.header.size();
  for (const std::string& key : param.path) bytes += sizeof(key) + key.size();
  return bytes;
}

std::size_t memory_of(std::string_view tool, const std::vector<Param>& params) {
  std::size_t bytes = tool.size();
  for (const Param& param : params) bytes += memory_of(param);
  return bytes;
}

}  // namespace

std::vector<HttpHeader> mirrored_headers(const Message& message) {
  std::vector<HttpHeader> headers;
  const std::string version = string_value(message.params.envelope_version);
  // Only names may be encoded. The server refuses what these headers cannot carry.
  if (!is_plain_value(version)) return headers;
  headers.push_back({"MCP-Protocol-Version", version});
  if (is_plain_value(message.method_text)) {
    headers.push_back({"Mcp-Method", std::string(message.method_text)});
  }
  if (const auto name = name_of(message)) headers.push_back({"Mcp-Name", encoded_value(*name)});
  return headers;
}

bool is_plain_value(std::string_view text) {
  const auto is_allowed = [](char c) { return is_visible_ascii(c) || c == ' '; };
  return !text.empty() && text.front() != ' ' && text.back() != ' ' &&
         std::all_of(text.begin(), text.end(), is_allowed);
}

std::string encoded_value(std::string_view text) {
  if (is_plain_value(text) && !looks_encoded(text)) return std::string(text);
  return fmt::format("{}{}{}", kEncodedPrefix, base64(text), kEncodedSuffix);
}

std::vector<InvalidTool> ToolHeaders::learn(std::string_view result) {
  std::vector<InvalidTool> invalid;
  // Few servers annotate anything. No server writes this word with escapes.
  if (tools_.empty() && result.find(kAnnotation) == result.npos) return invalid;
  for (const std::string_view tool : json_elements(member(result, "tools"))) {
    const auto [raw_name, schema] = members<2>(tool, {"name", "inputSchema"});
    std::string name = string_value(raw_name);
    forget(name);
    if (schema.find(kAnnotation) == schema.npos) continue;
    Annotations annotations;
    annotations.read(schema);
    if (annotations.fault().empty()) {
      remember(std::move(name), annotations.take());
    } else {
      invalid.push_back({tool, std::move(name), annotations.fault()});
    }
  }
  return invalid;
}

std::vector<HttpHeader> ToolHeaders::headers(std::string_view params) const {
  std::vector<HttpHeader> headers;
  if (tools_.empty()) return headers;
  const auto [name, arguments] = members<2>(params, {"name", "arguments"});
  const auto tool = tools_.find(string_value(name));
  if (tool == tools_.end()) return headers;
  for (const Param& param : tool->second) {
    const auto text = text_of(value_at(arguments, param.path));
    if (text) headers.push_back({"Mcp-Param-" + param.header, encoded_value(*text)});
  }
  return headers;
}

void ToolHeaders::clear() {
  tools_.clear();
  bytes_ = 0;
}

void ToolHeaders::forget(std::string_view tool) {
  const auto known = tools_.find(tool);
  if (known == tools_.end()) return;
  bytes_ -= memory_of(known->first, known->second);
  tools_.erase(known);
}

void ToolHeaders::remember(std::string tool, std::vector<Param> params) {
  const std::size_t bytes = memory_of(tool, params);
  const bool has_room = tools_.size() < limits::kHeaderToolsMax &&
                        params.size() <= limits::kHeaderParamsMax &&
                        bytes <= limits::kHeaderNamesMax - bytes_;
  if (params.empty() || !has_room) return;
  bytes_ += bytes;
  tools_.emplace(std::move(tool), std::move(params));
}

std::string without_tools(std::string_view result, const std::vector<InvalidTool>& invalid) {
  if (invalid.empty()) return std::string(result);
  const std::string_view tools = member(result, "tools");
  std::string kept = "[";
  auto next = invalid.begin();
  for (const std::string_view tool : json_elements(tools)) {
    if (next != invalid.end() && next->raw.data() == tool.data()) {
      ++next;
      continue;
    }
    if (kept.size() > 1) kept += ',';
    kept += tool;
  }
  kept += ']';
  std::string out(result);
  out.replace(static_cast<std::size_t>(tools.data() - result.data()), tools.size(), kept);
  return out;
}

}  // namespace sitter
