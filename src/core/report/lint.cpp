#include "core/report/lint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/report/tool_words.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {
namespace {

using nlohmann::json;

constexpr std::string_view kRejected = "so clients reject the result";
constexpr std::string_view kDropped = "so clients drop the whole list";

std::string in_quotes(std::string_view name) { return json_string(shown_name(name)); }

/// Collects findings about one tool after the other.
class Findings {
 public:
  void begin_tool(std::string_view name) { tool_ = "tool " + in_quotes(name); }
  void begin_nameless_tool(std::size_t number) { tool_ = fmt::format("tool number {}", number); }

  template <class... Words>
  void add(fmt::format_string<Words...> format, Words&&... words) {
    std::string finding = fmt::format("{}: ", tool_);
    finding += fmt::format(format, std::forward<Words>(words)...);
    const bool has_room = all_.size() < limits::kLintFindingsMax;
    if (has_room && std::find(all_.begin(), all_.end(), finding) == all_.end()) {
      all_.push_back(std::move(finding));
    }
  }

  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::string tool_;
  std::vector<std::string> all_;
};

bool is_good_name(std::string_view name) {
  constexpr std::string_view kCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  return !name.empty() && name.size() <= limits::kToolNameMax &&
         name.find_first_not_of(kCharacters) == name.npos;
}

bool is_data(std::string_view key) {
  return key == "const" || key == "default" || key == "enum" || key == "example" ||
         key == "examples";
}

/// Whether the member holds schemas under names. These names are no words of JSON Schema.
bool names_schemas(std::string_view key) {
  return key == "properties" || key == "patternProperties" || key == "$defs" ||
         key == "definitions" || key == "dependentSchemas" || key == "dependencies";
}

/// Calls `see` for each object that is read as a schema.
template <class See>
void for_each_schema(const json& schema, const See& see) {
  if (schema.is_array()) {
    for (const json& element : schema) for_each_schema(element, see);
  }
  if (!schema.is_object()) return;
  see(schema);
  for (const auto& [key, value] : schema.items()) {
    if (is_data(key)) continue;
    if (names_schemas(key)) {
      for (const json& named : value) for_each_schema(named, see);
    } else {
      for_each_schema(value, see);
    }
  }
}

/// The text of this member of an object; empty if it is not a string.
std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The part of a reference or an id that says which schema is meant.
std::string_view without_dots_and_fragment(std::string_view uri) {
  uri = uri.substr(0, uri.find('#'));
  while (uri.starts_with("./") || uri.starts_with("../")) uri.remove_prefix(uri.find('/') + 1);
  return uri;
}

/// Whether the reference may mean the schema with this id. Each of the two may be relative to
/// another id, so the end of a path is enough: a mistake that is not found does less harm than a
/// false alarm.
bool may_mean(std::string_view reference, std::string_view id) {
  std::string_view longer = without_dots_and_fragment(reference);
  std::string_view shorter = without_dots_and_fragment(id);
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  if (shorter.empty() || !longer.ends_with(shorter)) return false;
  longer.remove_suffix(shorter.size());
  return longer.empty() || longer.ends_with('/') || shorter.starts_with('/');
}

/// A `$ref` in the schema that leads out of the schema.
std::optional<std::string> outside_reference(std::string_view schema) {
  // Most schemas have no reference at all, and parsing takes longer than this search.
  if (schema.size() > limits::kLintSchemaMax || schema.find("$ref") == schema.npos) return {};
  if (is_nested_deeper(schema, limits::kNestingMax)) return {};
  std::vector<std::string> references;
  std::vector<std::string> ids;
  for_each_schema(json::parse(schema.begin(), schema.end(), nullptr, false), [&](const json& part) {
    std::string reference = text_in(part, "$ref");
    if (!reference.empty() && !reference.starts_with('#')) {
      references.push_back(std::move(reference));
    }
    if (std::string id = text_in(part, "$id"); !id.empty()) ids.push_back(std::move(id));
  });
  const auto outside = std::find_if(references.begin(), references.end(), [&](auto& reference) {
    return std::none_of(ids.begin(), ids.end(), [&](auto& id) { return may_mean(reference, id); });
  });
  return outside == references.end() ? std::nullopt : std::optional(std::move(*outside));
}

void lint_reference(std::string_view key, std::string_view schema, Findings& findings) {
  if (const auto reference = outside_reference(schema)) {
    findings.add(
        "the $ref {} in {} leads out of the schema, so clients drop the tool or the whole list; "
        "write the definition into $defs",
        in_quotes(*reference), key);
  }
}

void lint_schemas(std::string_view item, Findings& findings) {
  const auto [input, output] = members<2>(item, {"inputSchema", "outputSchema"});
  if (input.empty()) {
    findings.add(
        R"(inputSchema is missing, {}; write {{"type":"object"}} if there are no arguments)",
        kDropped);
  } else if (!is_object(input)) {
    findings.add("inputSchema is not an object, {}", kDropped);
  } else if (string_value(member(input, "type")) != "object") {
    findings.add(R"(inputSchema has no "type":"object", {})", kDropped);
  }
  lint_reference("inputSchema", input, findings);
  lint_reference("outputSchema", output, findings);
}

/// The name of the type in JSON Schema. "integer" is not among them, because each integer is also a
/// number.
std::string_view type_of(std::string_view value) {
  switch (value.front()) {
    case '{':
      return "object";
    case '[':
      return "array";
    case '"':
      return "string";
    case 't':
    case 'f':
      return "boolean";
    case 'n':
      return "null";
    default:
      return "number";
  }
}

bool is_integer(std::string_view number) {
  const json value = json::parse(number.begin(), number.end(), nullptr, false);
  // A number that the parser refuses is too large to have a fraction.
  if (!value.is_number_float()) return true;
  const auto real = value.get<double>();
  return std::trunc(real) == real;
}

/// The types that the schema allows; empty if it allows all, or if its `type` cannot be understood.
std::vector<std::string> types_in(std::string_view schema) {
  const auto [type, nullable] = members<2>(schema, {"type", "nullable"});
  std::vector<std::string> names;
  for (const std::string_view element : json_elements(type)) names.push_back(string_value(element));
  if (names.empty()) names.push_back(string_value(type));
  const auto is_known = [](std::string_view name) {
    constexpr std::string_view kKnown[] = {"object",  "array", "string", "number",
                                           "integer", "null",  "boolean"};
    return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
  };
  if (!std::all_of(names.begin(), names.end(), is_known)) return {};
  // A word of OpenAPI that the official TypeScript client (Ajv) understands.
  if (nullable == "true") names.push_back("null");
  return names;
}

/// Adds a finding if the schema does not allow the type of this value. `what` names the value.
void lint_type(std::string_view what, std::string_view schema, std::string_view value,
               Findings& findings) {
  const std::vector<std::string> allowed = types_in(schema);
  const std::string_view type = type_of(value);
  const bool fits = allowed.empty() || std::any_of(allowed.begin(), allowed.end(), [&](auto& name) {
                      if (name == "integer") return type == "number" && is_integer(value);
                      return name == type;
                    });
  if (fits) return;
  findings.add("{} is of the type {}, but outputSchema asks for {}, {}", what, type,
               fmt::join(allowed, " or "), kRejected);
}

void lint_fit(std::string_view structured, std::string_view schema, Findings& findings) {
  if (schema.size() > limits::kLintSchemaMax) return;
  lint_type("structuredContent", schema, structured, findings);
  if (!is_object(structured)) return;
  const auto [required, properties] = members<2>(schema, {"required", "properties"});
  const std::vector<JsonMember> present = json_members(structured);
  const auto find = [&](std::string_view key) {
    return std::find_if(present.rbegin(), present.rend(),
                        [&](const JsonMember& member) { return member.key == key; });
  };
  for (const std::string_view element : json_elements(required)) {
    const auto key = json_decoded(element);
    if (!key || find(*key) != present.rend()) continue;
    findings.add("structuredContent has no member {}, which outputSchema requires, {}",
                 in_quotes(*key), kRejected);
  }
  for (const JsonMember& property : json_members(properties)) {
    const auto found = find(property.key);
    if (found == present.rend()) continue;
    lint_type(fmt::format("the member {} of structuredContent", in_quotes(property.key)),
              property.value, found->value, findings);
  }
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

void lint_text(std::string_view content, std::string_view structured, Findings& findings) {
  const auto text = only_text(content);
  if (!text || !has_json_grammar(*text)) return;
  for (const std::string_view value : {std::string_view(*text), structured}) {
    if (is_nested_deeper(value, limits::kNestingMax)) return;
  }
  const json meaning = json::parse(*text, nullptr, false);
  const json whole = json::parse(structured.begin(), structured.end(), nullptr, false);
  // The parser refuses numbers that no double can hold.
  if (meaning.is_discarded() || whole.is_discarded() || holds(whole, *text, meaning)) return;
  findings.add(
      "the text of a result says something other than structuredContent, and some clients show the "
      "model only one of the two");
}

}  // namespace

std::vector<std::string> lint_tools(std::span<const std::string_view> items) {
  Findings findings;
  std::set<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto name = json_decoded(member(items[i], "name"));
    if (!name) {
      findings.begin_nameless_tool(i + 1);
      findings.add("the name is missing or not a string, {}", kDropped);
    } else {
      findings.begin_tool(*name);
      if (!is_good_name(*name)) {
        findings.add(
            "clients refuse this name; write 1 to {} of the characters A-Z, a-z, 0-9, _, - and .",
            limits::kToolNameMax);
      }
      if (!names.insert(*name).second) {
        findings.add("several tools have this name, so clients drop a tool or the whole list");
      }
    }
    lint_schemas(items[i], findings);
  }
  return findings.take();
}

std::vector<std::string> lint_result(std::string_view tool, std::string_view result,
                                     std::string_view output_schema) {
  Findings findings;
  findings.begin_tool(tool);
  const auto [content, structured, is_error, result_type] =
      members<4>(result, {"content", "structuredContent", "isError", "resultType"});
  if (!is_complete(result_type)) return {};
  if (!is_array(content) && structured.empty()) return {};
  if (!is_error.empty() && type_of(is_error) != "boolean") {
    findings.add("isError of a result is not true or false, {}", kRejected);
  }
  if (is_there(structured)) {
    lint_fit(structured, output_schema, findings);
    lint_text(content, structured, findings);
  } else if (is_object(output_schema) && (is_error.empty() || is_error == "false")) {
    findings.add("a result has no structuredContent, but the tool has an outputSchema, {}",
                 kRejected);
  }
  return findings.take();
}

}  // namespace sitter
