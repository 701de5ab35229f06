#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sitter {

/// The documents that the built-in tools show. Members keep the order in which they are set.
using ToolJson = nlohmann::ordered_json;

/// The text that is shown. Bytes that are not UTF-8 are replaced.
std::string indented(const ToolJson& json);

}  // namespace sitter
