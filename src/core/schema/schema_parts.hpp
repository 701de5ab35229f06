#pragma once

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/line_pattern.hpp"

namespace sitter {

/// A JSON Schema that was read, with its patterns and references.
struct SchemaParts {
  /// Keywords that are not known, and could refuse a value.
  static constexpr std::array<std::string_view, 4> kUncheckedKeywords{
      "unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"};

  enum class Patterns {
    all,
    few,  ///< those that are compiled at once: each with little memory, and not many
  };

  explicit SchemaParts(nlohmann::json schema, Patterns which = Patterns::all);

  /// Null if there is none, or the value is no object.
  static const nlohmann::json* member(const nlohmann::json& object, std::string_view key);
  /// Null if the reference does not point into the schema, or into `base`.
  const nlohmann::json* target(const std::string& reference) const {
    return target(*root, reference);
  }
  static const nlohmann::json* target(const nlohmann::json& base, const std::string& reference);

  /// What each of these schemas says or, if it is a reference, refers to. Empty if one of them
  /// leads to no object.
  std::vector<const nlohmann::json*> targets(const nlohmann::json& schemas) const;

  std::unique_ptr<const nlohmann::json> root;
  /// Each pattern of the schema, also those that RE2 cannot read.
  std::map<std::string, LinePattern> patterns;
  /// See `JsonSchema::unchecked`.
  std::vector<std::string> unchecked;

 private:
  void read(const nlohmann::json& schema);
  void read_pattern(const std::string& pattern);

  Patterns which_;
};

/// The first property for which each of these schemas has a constant; empty if there is none.
std::string key_of_constants(const std::vector<const nlohmann::json*>& schemas);

// Values as JSON Schema compares them.

/// Whether the value is of a type, as in "integer", which 1.0 is too. True for unknown types.
bool has_type(const nlohmann::json& value, std::string_view type);

/// "string or null"
std::string types_text(const nlohmann::json& types);

/// The first member that the library does not read; empty if the raw value is no object.
std::string unreadable_member(std::string_view raw);

/// JSON equality: the order of members and the spelling of numbers do not count.
bool is_same(const nlohmann::json& left, const nlohmann::json& right);

/// A text that is the same for all values that are the same, but for numbers within them.
std::string canonical(const nlohmann::json& value);

/// The bound of the schema that the number does not keep: "is less than the minimum 3". Empty if it
/// keeps all.
std::string broken_bound(double number, const nlohmann::json& schema);

}  // namespace sitter
