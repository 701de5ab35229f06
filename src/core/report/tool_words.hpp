#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/wire/catalog_kind.hpp"

namespace sitter {

/// Describes the definitions of tools, prompts and resources in words. The definitions are raw
/// JSON, and may have any shape.

/// How two definitions of the same tool, prompt or resource differ.
struct DefinitionChange {
  /// One line for each difference: "+limit (integer, optional)", "-old removed", "path now
  /// required", "limit: string -> integer", "description changed". There is at least one line.
  std::vector<std::string> details;
  bool output_schema_changed = false;
};

DefinitionChange definition_change(CatalogKind kind, std::string_view before,
                                   std::string_view after);

/// The parameters of a tool or prompt on one line:
/// "search_index: query (string, required), limit (integer, optional)".
std::string signature(CatalogKind kind, std::string_view name, std::string_view definition);

/// A name from the child as texts show it: on one line, and shortened.
std::string shown_name(std::string_view name);

}  // namespace sitter
