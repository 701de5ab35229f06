#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sitter {

/// A `$ref` that leads out of the schema: it neither begins with `#` nor names an `$id` of the same
/// schema. Data, as in `const`, has no references. Nothing in text that is nested deeper than
/// `limits::kNestingMax`.
std::optional<std::string> outside_reference(std::string_view schema);

}  // namespace sitter
