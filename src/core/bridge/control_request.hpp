#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace sitter {

/// What somebody asks from outside: one JSON object on a line, {"command": "status", "arguments":
/// {...}}. The arguments are those of the tool of that kind. Each is answered by one line, a
/// JSON-RPC response whose id means nothing.
struct ControlRequest {
  enum class Command { status, reload, kill, child_stderr };

  Command command = Command::status;
  /// A raw object; empty if there were none.
  std::string arguments;
  /// Of child_stderr: {"line": "..."} follows for each line that the server writes from now on and
  /// that `grep` matches.
  bool follows = false;
};

/// Or a sentence about what is wrong with the line.
std::variant<ControlRequest, std::string> parse_control_request(std::string_view line);

}  // namespace sitter
