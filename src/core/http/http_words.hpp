#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sitter/time.hpp"
namespace sitter {
inline bool is_event_stream(std::string_view type) { return type.starts_with("text/event-stream"); }
inline std::string status_line(int status) { return std::to_string(status); }
inline std::string body_words(std::string_view body) { return std::string(body.substr(0, 200)); }
inline std::optional<Milliseconds> retry_after(std::string_view, WallTime) { return {}; }
inline std::optional<std::string> json_rpc_error(std::string_view) { return {}; }
}  // namespace sitter
