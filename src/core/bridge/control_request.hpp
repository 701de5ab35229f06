#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace sitter {

/// A request from `mcp-sitter ctl`: one JSON object on a line, {"command": "status", "arguments":
/// {...}}. The arguments are those of the built-in tool. The bridge answers each request with one
/// line, a JSON-RPC response, whose id means nothing.
struct ControlRequest {
  enum class Command { status, reload, kill, child_stderr };

  Command command = Command::status;
  /// A raw object; empty if there were none.
  std::string arguments;
  /// Of child_stderr: {"line": "..."} follows for each line that the server writes from now on and
  /// that `grep` matches.
  bool follows = false;
  /// Of kill: {"by": PID} comes from another mcp-sitter, whose sitter_kill ends our server. 0 if
  /// a person asks.
  std::int64_t by = 0;
};

/// Returns the request, or a sentence that says what is wrong with the line.
std::variant<ControlRequest, std::string> parse_control_request(std::string_view line);

}  // namespace sitter
