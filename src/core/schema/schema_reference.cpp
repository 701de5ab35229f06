#include "core/schema/schema_reference.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/json_text.hpp"

namespace sitter {
namespace {

using nlohmann::json;

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

}  // namespace

std::optional<std::string> outside_reference(std::string_view schema) {
  // Most schemas have no reference at all, and parsing takes longer than this search.
  if (schema.find("$ref") == schema.npos) return {};
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

}  // namespace sitter
