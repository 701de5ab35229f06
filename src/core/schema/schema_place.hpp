#pragma once

#include <cstddef>
#include <string>

#include "core/schema/json_schema.hpp"

namespace sitter {

/// Where a value stands while a value above it is checked. The path is written out only if the
/// value does not fit: a key may be large, and may stand above many items.
struct SchemaPlace {
  /// Null for the whole value.
  const SchemaPlace* parent = nullptr;
  /// Null for an item.
  const std::string* key = nullptr;
  std::size_t index = 0;

  JsonSchema::Path path() const;
};

/// "limits.max[2]"; a long key is shortened.
std::string path_text(const JsonSchema::Path& path);

}  // namespace sitter
