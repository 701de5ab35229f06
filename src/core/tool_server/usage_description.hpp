#pragma once

#include <nlohmann/json_fwd.hpp>

namespace sitter {

/// Whether a value is a specification of `usage` as `usage generate json` writes it
/// (https://usage.jdx.dev/spec).
bool is_usage(const nlohmann::ordered_json& value);

/// The commands of such a specification as a list of tools, each with its `cli_command`. A command
/// that only groups others, and what is hidden, makes no tool. The name of a tool is its words with
/// `_` between them.
nlohmann::ordered_json tools_of_usage(const nlohmann::ordered_json& specification);

}  // namespace sitter
