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
  static constexpr std::array kUncheckedKeywords{"unevaluatedItems", "unevaluatedProperties",
                                                 "$dynamicRef", "$recursiveRef"};

  explicit SchemaParts(nlohmann::json schema);

  /// Null if there is none, or the value is no object.
  static const nlohmann::json* member(const nlohmann::json& object, std::string_view key);
  /// Null if the reference does not point into the schema.
  const nlohmann::json* target(const std::string& reference) const;

  std::unique_ptr<const nlohmann::json> root;
  /// Each pattern of the schema, also those that RE2 cannot read.
  std::map<std::string, LinePattern> patterns;
  /// See `JsonSchema::unchecked`.
  std::vector<std::string> unchecked;

 private:
  void read(const nlohmann::json& schema);
  void read_pattern(const std::string& pattern);
};

// Values as JSON Schema compares them.

/// Whether the value is of a type, as in "integer", which 1.0 is too. True for unknown types.
bool has_type(const nlohmann::json& value, std::string_view type);

/// JSON equality: the order of members and the spelling of numbers do not count.
bool is_same(const nlohmann::json& left, const nlohmann::json& right);

/// A text that is the same for all values that are the same, but for numbers within them.
std::string canonical(const nlohmann::json& value);

/// True if `of` is not positive.
bool is_multiple(double value, double of);

}  // namespace sitter
