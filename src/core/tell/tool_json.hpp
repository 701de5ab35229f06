#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sitter {

/// The documents that the built-in tools show. Members keep the order in which they are set.
using ToolJson = nlohmann::ordered_json;

/// The text that is shown. Bytes that are not UTF-8 are replaced.
inline std::string indented(const ToolJson& json) {
  return json.dump(2, ' ', false, ToolJson::error_handler_t::replace);
}

template <typename Value>
ToolJson or_null(const std::optional<Value>& value) {
  return value ? ToolJson(*value) : ToolJson();
}

}  // namespace sitter
