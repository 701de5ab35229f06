#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/json_schema.hpp"
#include "core/schema/revision.hpp"

namespace sitter {

/// A definition of the published schema, as in "Tool", and those that it refers to, as a schema.
std::string definition_schema(Revision revision, std::string_view definition);

/// What in this value does not fit a definition of the schema, as in "Tool". Nothing if it cannot
/// be checked, is nested deeper than `limits::kNestingMax`, or has more than 1 MiB. `raw` must be
/// valid JSON. `nulls` as for `JsonSchema::check`.
std::optional<JsonSchema::Violation> protocol_violation(
    Revision revision, std::string_view definition, std::string_view raw,
    std::vector<JsonSchema::Path>* nulls = nullptr);

/// Why official clients refuse this result of `initialize`, and with it the session, as a clause;
/// empty if they take it, or would without members that are null. A capability must not be null:
/// there is no telling whether the server has it.
std::string opening_defect(std::string_view result);

/// A value without the optional members that are null, which clients refuse.
struct WithoutNulls {
  /// The value that fits; nothing if there is a violation.
  std::optional<std::string> kept;
  /// The places of these members, as in "annotations.title".
  std::vector<std::string> places;
  std::optional<JsonSchema::Violation> violation;
};

/// A raw value without the members at the ends of these paths.
std::string without_members(std::string_view raw, std::span<const JsonSchema::Path> paths);

WithoutNulls without_nulls(Revision revision, std::string_view definition, std::string_view raw);

/// The same of a result of `initialize`. One in which nothing is null is not checked.
WithoutNulls opening_without_nulls(std::string_view result);

}  // namespace sitter
