#include "core/schema/schema_defect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/text.hpp"
#include "core/schema/js_pattern.hpp"
#include "core/schema/schema_parts.hpp"
#include "core/schema/schema_reference.hpp"

namespace sitter {
namespace {

using Json = nlohmann::json;

/// How much of a word of the schema a text shows, in bytes.
constexpr std::size_t kShownMax = 100;

enum class Holds { value, schema, schemas, named_schemas };

/// A keyword that Ajv knows, with the types that its value may have.
struct Keyword {
  const char* name;
  const char* types;
  Holds holds = Holds::value;
};

constexpr std::array kKeywords{
    Keyword{"$ref", "a string"},
    Keyword{"maximum", "a number"},
    Keyword{"minimum", "a number"},
    Keyword{"exclusiveMaximum", "a number"},
    Keyword{"exclusiveMinimum", "a number"},
    Keyword{"multipleOf", "a number"},
    Keyword{"maxLength", "a number"},
    Keyword{"minLength", "a number"},
    Keyword{"maxItems", "a number"},
    Keyword{"minItems", "a number"},
    Keyword{"maxProperties", "a number"},
    Keyword{"minProperties", "a number"},
    Keyword{"pattern", "a string"},
    Keyword{"format", "a string"},
    Keyword{"required", "an array"},
    Keyword{"uniqueItems", "a boolean"},
    Keyword{"type", "a string or an array"},
    Keyword{"nullable", "a boolean"},
    Keyword{"enum", "an array"},
    Keyword{"additionalItems", "an object or a boolean", Holds::schema},
    Keyword{"items", "an object, an array or a boolean", Holds::schema},
    Keyword{"contains", "an object or a boolean", Holds::schema},
    Keyword{"propertyNames", "an object or a boolean", Holds::schema},
    Keyword{"additionalProperties", "an object or a boolean", Holds::schema},
    Keyword{"not", "an object or a boolean", Holds::schema},
    Keyword{"if", "an object or a boolean", Holds::schema},
    Keyword{"then", "an object or a boolean", Holds::schema},
    Keyword{"else", "an object or a boolean", Holds::schema},
    Keyword{"allOf", "an array", Holds::schemas},
    Keyword{"anyOf", "an array", Holds::schemas},
    Keyword{"oneOf", "an array", Holds::schemas},
    Keyword{"properties", "an object", Holds::named_schemas},
    Keyword{"patternProperties", "an object", Holds::named_schemas},
    Keyword{"dependencies", "an object", Holds::named_schemas},
};

bool is_one_of(const Json& value, std::string_view types) {
  const std::string_view type = value.is_string()    ? "string"
                                : value.is_number()  ? "number"
                                : value.is_boolean() ? "boolean"
                                : value.is_array()   ? "array"
                                : value.is_object()  ? "object"
                                                     : "null";
  return types.find(type) != types.npos;
}

bool is_type(const Json& name) {
  constexpr std::array kTypes{"string", "number", "integer", "boolean", "null", "object", "array"};
  return std::any_of(kTypes.begin(), kTypes.end(), [&](const char* type) { return name == type; });
}

/// Looks at all that Ajv compiles: what is not used, like most of `$defs`, is not read.
class Compilation {
 public:
  explicit Compilation(const Json& root) : root_(root), named_(root) {}

  std::string defect() {
    std::string wrong = name_defect(root_);
    return wrong.empty() ? defect_of(root_, "", root_) : wrong;
  }

 private:
  /// Empty if nothing is wrong in this part of the schema. `above` is the part in which local
  /// references lead, unless this part has an `$id`.
  std::string defect_of(const Json& schema, const std::string& place, const Json& above) {
    if (schema.is_null()) return fmt::format("has null{} where a schema belongs", at(place));
    if (!schema.is_object() || !seen_.insert(&schema).second) return {};
    if (schema.contains("id")) {
      return fmt::format("has the keyword id{}, which is $id since draft 6", at(place));
    }
    const Json* const id = SchemaParts::member(schema, "$id");
    // JavaScript takes null, false and 0 for no id.
    const bool is_id = id != nullptr && !id->is_null() && *id != false && *id != 0;
    if (is_id && !id->is_string() && (place.empty() || has_rules(schema))) {
      return fmt::format("has `$id`{} that is not a string", at(place));
    }
    const bool is_base =
        id != nullptr && id->is_string() && !id->get_ref<const std::string&>().starts_with('#');
    const Json& base = is_base ? schema : above;
    for (const Keyword& keyword : kKeywords) {
      const Json* const value = SchemaParts::member(schema, keyword.name);
      if (value == nullptr) continue;
      if (!is_one_of(*value, keyword.types)) {
        return fmt::format("has `{}`{} that is not {}", keyword.name, at(place), keyword.types);
      }
      if (keyword.holds == Holds::value || is_unused(schema, keyword.name)) continue;
      const std::string there = place + (place.empty() ? "" : ".") + keyword.name;
      if (auto wrong = defect_below(keyword, *value, there, base); !wrong.empty()) return wrong;
    }
    return defect_of_values(schema, place, base);
  }

  static std::string at(const std::string& place) {
    return place.empty() ? "" : fmt::format(" at {}", brief(place, kShownMax));
  }

  /// Whether Ajv compiles nothing of what this keyword holds.
  static bool is_unused(const Json& schema, std::string_view keyword) {
    if (keyword == "if") return !schema.contains("then") && !schema.contains("else");
    if (keyword == "then" || keyword == "else") return !schema.contains("if");
    if (keyword == "additionalItems") {
      const Json* const items = SchemaParts::member(schema, "items");
      return items == nullptr || !items->is_array();
    }
    if (keyword != "anyOf") return false;
    const Json& any = schema["anyOf"];
    return std::none_of(any.begin(), any.end(), [](const Json& one) { return one.is_null(); }) &&
           !std::all_of(any.begin(), any.end(), has_rules);
  }

  /// Whether the schema could refuse a value. Ajv does not look at others.
  static bool has_rules(const Json& schema) {
    if (!schema.is_object()) return schema == false;
    return schema.contains("const") || schema.contains("id") ||
           std::any_of(kKeywords.begin(), kKeywords.end(),
                       [&](const Keyword& keyword) { return schema.contains(keyword.name); });
  }

  std::string defect_below(const Keyword& keyword, const Json& value, const std::string& place,
                           const Json& base) {
    if (keyword.holds == Holds::schema && !value.is_array()) return defect_of(value, place, base);
    std::string wrong;
    for (const auto& [key, one] : value.items()) {
      const std::string there =
          value.is_array() ? fmt::format("{}[{}]", place, key) : fmt::format("{}.{}", place, key);
      if (wrong.empty() && std::string_view(keyword.name) == "patternProperties" &&
          has_rules(one)) {
        wrong = pattern_defect(key, place);
      }
      if (wrong.empty() && !(one.is_array() && keyword.holds == Holds::named_schemas)) {
        wrong = defect_of(one, there, base);
      }
    }
    return wrong;
  }

  static std::string pattern_defect(const std::string& pattern, const std::string& place) {
    const std::string wrong = js_pattern_defect(pattern);
    if (wrong.empty()) return {};
    return fmt::format("has the pattern {}{} that {}", brief(pattern, kShownMax), at(place), wrong);
  }

  static std::string type_defect(const Json& schema, const std::string& place) {
    const Json* const type = SchemaParts::member(schema, "type");
    // An empty text counts as no type.
    const Json types = type == nullptr || *type == "" ? Json::array()
                       : type->is_array()             ? *type
                                                      : Json::array({*type});
    const auto unknown = std::find_if_not(types.begin(), types.end(), is_type);
    if (unknown != types.end()) {
      return fmt::format(
          "has the type {}{}, which JSON Schema does not know",
          brief(unknown->dump(-1, ' ', false, Json::error_handler_t::replace), kShownMax),
          at(place));
    }
    if (types.empty() && schema.contains("nullable")) {
      return fmt::format("has `nullable`{} without a `type`", at(place));
    }
    const bool is_null = std::find(types.begin(), types.end(), "null") != types.end();
    return is_null && schema.value("nullable", true) == false
               ? fmt::format("has the type null{}, and `nullable` that is false", at(place))
               : std::string();
  }

  /// The types of all values are right.
  std::string defect_of_values(const Json& schema, const std::string& place, const Json& base) {
    if (auto wrong = type_defect(schema, place); !wrong.empty()) return wrong;
    if (const Json* const values = SchemaParts::member(schema, "enum"); values && values->empty()) {
      return fmt::format("has an empty `enum`{}", at(place));
    }
    if (const Json* const pattern = SchemaParts::member(schema, "pattern")) {
      if (auto wrong = pattern_defect(pattern->get<std::string>(), place); !wrong.empty()) {
        return wrong;
      }
    }
    const Json* const reference = SchemaParts::member(schema, "$ref");
    return reference == nullptr ? ""
                                : defect_of_reference(reference->get<std::string>(), place, base);
  }

  std::string defect_of_reference(const std::string& reference, const std::string& place,
                                  const Json& base) {
    if (!reference.starts_with('#')) {
      if (named_.may_have(reference)) return {};
      return fmt::format("has the $ref {}{}, which leads out of it", brief(reference, kShownMax),
                         at(place));
    }
    const Json* const target = target_of(reference, base);
    if (target == nullptr) {
      return fmt::format("has the $ref {}{}, which leads to nothing", brief(reference, kShownMax),
                         at(place));
    }
    std::set<const Json*> passed;
    for (const Json* next = target; next != nullptr && is_only_reference(*next);
         next = target_of((*next)["$ref"].get<std::string>(), base)) {
      if (passed.insert(next).second) continue;
      return fmt::format("has the $ref {}{}, which leads to itself", brief(reference, kShownMax),
                         at(place));
    }
    return defect_of(*target, reference, base);
  }

  static bool is_only_reference(const Json& schema) {
    if (!schema.is_object() || schema.contains("const")) return false;
    const Json* const reference = SchemaParts::member(schema, "$ref");
    return reference != nullptr && reference->is_string() &&
           std::count_if(kKeywords.begin(), kKeywords.end(), [&](const Keyword& keyword) {
             return schema.contains(keyword.name);
           }) == 1;
  }

  const Json* target_of(const std::string& reference, const Json& base) const {
    if (reference == "#" || reference.starts_with("#/")) {
      return SchemaParts::target(base, reference == "#/" ? "#" : reference);
    }
    const auto found = named_.anchors.find(reference.substr(1));
    return found == named_.anchors.end() ? nullptr : found->second;
  }

  const Json& root_;
  const NamedParts named_;
  std::set<const Json*> seen_;
};

}  // namespace

std::string schema_defect(std::string_view raw) {
  const Json schema = Json::parse(raw.begin(), raw.end(), nullptr, false);
  // What the library cannot read, JavaScript may.
  return schema.is_discarded() ? std::string() : Compilation(schema).defect();
}

}  // namespace sitter
