#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "session/bridge_session.hpp"

namespace sitter {

// Members of JSON from outside, which may have any shape.

/// Null if there is no such member.
inline BridgeSession::Json member(const BridgeSession::Json& json, std::string_view key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? BridgeSession::Json() : *found;
}

/// Empty if there is no such text.
inline std::string text_in(const BridgeSession::Json& json, std::string_view key) {
  const auto found = member(json, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

/// 0 if there is no such whole number.
inline std::int64_t number_in(const BridgeSession::Json& json, std::string_view key) {
  const auto found = member(json, key);
  return found.is_number_integer() ? found.get<std::int64_t>() : 0;
}

inline bool is_true(const BridgeSession::Json& json, std::string_view key) {
  return member(json, key) == true;
}

}  // namespace sitter
