#include "core/schema/schema_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"

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

/// The names of the parts of a schema, as Ajv collects them before it compiles the schema.
class PartNames {
 public:
  std::string defect_of(const json& root) {
    const std::string base = resolved("", text_in(root, "$id"));
    if (!base.empty()) known_.insert(base);
    read_below(root, base);
    return defect_;
  }

 private:
  /// One that is the same text is the same name; two that differ may still be.
  static std::string resolved(std::string_view base, std::string_view id) {
    if (id.ends_with('#')) id.remove_suffix(1);
    if (id.empty()) return std::string(base);
    base = base.substr(0, base.find('#'));
    if (id.starts_with('#')) return std::string(base).append(id);
    if (id.substr(0, id.find('/')).find(':') != id.npos) return std::string(id);
    return std::string(base.substr(0, base.rfind('/') + 1)).append(id);
  }

  void read(const json& schema, std::string base) {
    if (!schema.is_object()) return;
    if (const auto id = schema.find("$id"); id != schema.end() && id->is_string()) {
      base = resolved(base, id->get_ref<const std::string&>());
      add(base, "$id", *id);
    }
    for (const char* const keyword : {"$anchor", "$dynamicAnchor"}) {
      const auto anchor = schema.find(keyword);
      if (anchor == schema.end() || !anchor->is_string()) continue;
      add(resolved(base, "#" + anchor->get<std::string>()), keyword, *anchor);
    }
    read_below(schema, base);
  }

  void read_below(const json& schema, const std::string& base) {
    if (!schema.is_object()) return;
    for (const auto& [key, value] : schema.items()) {
      const bool holds_parts =
          value.is_array() ? key == "items" || key == "allOf" || key == "anyOf" || key == "oneOf"
                           : names_schemas(key) && key != "dependentSchemas";
      if (holds_parts) {
        for (const json& part : value) read(part, base);
      } else if (key != "default" && key != "const" && key != "enum") {
        read(value, base);
      }
    }
  }

  void add(const std::string& name, std::string_view keyword, const json& text) {
    if (known_.insert(name).second || !defect_.empty()) return;
    defect_ = fmt::format("has several parts with the {} {}", keyword,
                          brief(text.get_ref<const std::string&>(), 100));
  }

  std::set<std::string> known_;
  std::string defect_;
};

}  // namespace

std::string name_defect(const json& schema) { return PartNames().defect_of(schema); }

std::optional<std::string> outside_reference(std::string_view schema) {
  // Most schemas have no reference at all, and parsing takes longer than this search.
  if (schema.find("$ref") == schema.npos) return {};
  if (is_nested_deeper(schema, limits::kNestingMax)) return {};
  const json parsed = json::parse(schema.begin(), schema.end(), nullptr, false);
  const NamedParts named(parsed);
  std::optional<std::string> outside;
  for_each_schema(parsed, [&](const json& part) {
    std::string reference = text_in(part, "$ref");
    const bool is_inside = reference.empty() || reference.starts_with('#');
    if (!outside && !is_inside && !named.may_have(reference)) outside = std::move(reference);
  });
  return outside;
}

NamedParts::NamedParts(const json& schema) {
  for_each_schema(schema, [&](const json& part) {
    for (const char* const keyword : {"$anchor", "$dynamicAnchor", "$id"}) {
      std::string name = text_in(part, keyword);
      const bool is_id = std::string_view(keyword) == "$id";
      if (name.empty()) continue;
      if (is_id && name.starts_with('#')) {
        anchors.emplace(name.substr(1), &part);
      } else if (is_id) {
        ids.push_back(std::move(name));
      } else {
        anchors.emplace(std::move(name), &part);
      }
    }
  });
}

bool NamedParts::may_have(std::string_view reference) const {
  constexpr std::string_view kDraft7 = "http://json-schema.org/draft-07/schema";
  return reference == kDraft7 || reference == std::string(kDraft7) + "#" ||
         std::any_of(ids.begin(), ids.end(),
                     [&](const std::string& id) { return may_mean(reference, id); });
}

}  // namespace sitter
