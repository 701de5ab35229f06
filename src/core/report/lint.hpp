#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/revision.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// A longer item of a list, or a longer message, is not linted: reading it would delay the next
/// one. Schemas and results that a model reads are seldom a tenth as long.
inline constexpr std::size_t kLintSchemaMax = 64 * kKiB;
inline constexpr std::size_t kLintResultMax = 64 * kKiB;

}  // namespace limits

// What official clients reject of what a server says. All texts from the server are raw JSON and
// may have any shape. Each finding is one short line.

/// The findings in the result of a call of this tool, at most `limits::kLintFindingsMax`. There are
/// none if the result is not complete (`resultType`, 2026-07-28), or begins a task. `output_schema`
/// is empty if the tool has none. A schema of more than `limits::kLintSchemaMax` bytes is not
/// compared.
std::vector<std::string> lint_result(Revision revision, std::string_view tool,
                                     std::string_view result, std::string_view output_schema);

/// Whether this raw `resultType` of the stateless revision is one that clients know.
bool is_known_type(std::string_view result_type);
/// What is wrong with a result of this method that has another one, or none.
std::string type_finding(Method method, std::string_view result_type);
/// Whether a result of this method that has such a type is made "complete".
inline bool is_type_mended(Method method, std::string_view result_type) {
  return is_list(method) || !is_there(result_type);
}

/// Whether `lint_message` knows the results, or the notifications, of this method.
bool is_linted(Method method);
/// What is wrong with a result, or with a notification as a whole; empty if nothing is.
std::string lint_message(Revision revision, Method method, std::string_view message);

}  // namespace sitter
