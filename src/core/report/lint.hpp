#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// How many findings of the lint are kept about the definitions of the tools, and as many about
/// results: more than anybody mends at once.
inline constexpr std::size_t kLintFindingsMax = 100;

/// A longer schema, or a longer result, is not linted: reading it would delay the answer. Schemas
/// and results that a model reads are seldom a tenth as long.
inline constexpr std::size_t kLintSchemaMax = 64 * kKiB;
inline constexpr std::size_t kLintResultMax = 64 * kKiB;

/// How long the name of a tool may be (MCP 2025-11-25, "Tool Names").
inline constexpr std::size_t kToolNameMax = 128;

}  // namespace limits

/// What is wrong with definitions of tools and with results, as far as clients drop tools or reject
/// results because of it. Each finding is one short line that names the tool. All texts from the
/// server are raw JSON and may have any shape.

/// The findings in the definitions of all tools, in the order of the list, each only once. There
/// are at most `limits::kLintFindingsMax`. In a schema of more than `limits::kLintSchemaMax` bytes,
/// references are not looked at.
std::vector<std::string> lint_tools(std::span<const std::string_view> items);

/// The findings in the result of a call of this tool, under the same bound. There are none if the
/// result is not complete (`resultType`, 2026-07-28), or has neither content nor structuredContent.
/// `output_schema` is empty if the tool has none. Only the members at its top level are compared
/// with the result, and none if the schema has more than `limits::kLintSchemaMax` bytes.
std::vector<std::string> lint_result(std::string_view tool, std::string_view result,
                                     std::string_view output_schema);

}  // namespace sitter
