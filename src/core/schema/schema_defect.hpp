#pragma once

#include <string>
#include <string_view>

namespace sitter {

/// Why the official TypeScript clients (Ajv, draft 7) cannot use this schema at all, as a clause
/// with the schema as its subject: "has `required` at properties.a that is not an array". Empty if
/// they can. `raw` must be valid JSON that is not nested deeper than `limits::kNestingMax`.
///
/// A reference to an `$id` of the same schema is taken on trust.
std::string schema_defect(std::string_view raw);

}  // namespace sitter
