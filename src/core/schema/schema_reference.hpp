#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// A `$ref` that leads out of the schema: it neither begins with `#` nor names an `$id` of the same
/// schema. Data, as in `const`, has no references. Nothing in text that is nested deeper than
/// `limits::kNestingMax`.
std::optional<std::string> outside_reference(std::string_view schema);

/// What makes Ajv refuse the `$id`s and anchors of a schema, as a clause with the schema as its
/// subject; empty if nothing does.
std::string name_defect(const nlohmann::json& schema);

/// What references may name in a schema, besides places.
struct NamedParts {
  /// `schema` must outlive this object.
  explicit NamedParts(const nlohmann::json& schema);

  /// Whether a reference that does not begin with `#` may mean a part of the schema, or the schema
  /// of draft 7, which Ajv knows. Each `$id` may be relative to another one.
  bool may_have(std::string_view reference) const;

  std::vector<std::string> ids;
  /// By their names, without `#`.
  std::map<std::string, const nlohmann::json*> anchors;
};

}  // namespace sitter
