#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/wire/catalog_kind.hpp"

namespace sitter {

/// Definitions of tools, prompts and resources in words. The definitions are raw JSON, and may have
/// any shape.

/// What differs between two definitions of one thing.
struct DefinitionChange {
  /// One line each: "+limit (integer, optional)", "-old removed", "path now required",
  /// "limit: string -> integer", "description changed". At least one.
  std::vector<std::string> details;
  bool output_schema_changed = false;
};

DefinitionChange definition_change(CatalogKind kind, std::string_view before,
                                   std::string_view after);

/// The parameters of a tool or prompt on one line:
/// "search_index: query (string, required), limit (integer, optional)".
std::string signature(CatalogKind kind, std::string_view name, std::string_view definition);

/// A name of the child's as it stands in texts: on one line, and shortened.
std::string shown_name(std::string_view name);

}  // namespace sitter
