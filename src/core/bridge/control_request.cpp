#include "core/bridge/control_request.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"

namespace sitter {

std::variant<ControlRequest, std::string> parse_control_request(std::string_view line) {
  using Command = ControlRequest::Command;
  if (is_nested_deeper(line, limits::kNestingMax)) return "the request is nested too deeply";
  const auto request = nlohmann::json::parse(line, nullptr, false);
  if (!request.is_object()) return "the request is not a JSON object";
  const std::string name = request.contains("command") && request["command"].is_string()
                               ? request["command"].get<std::string>()
                               : std::string();
  ControlRequest parsed;
  if (name == "status") {
    parsed.command = Command::status;
  } else if (name == "reload") {
    parsed.command = Command::reload;
  } else if (name == "kill") {
    parsed.command = Command::kill;
  } else if (name == "stderr") {
    parsed.command = Command::child_stderr;
  } else {
    return fmt::format("there is no command '{}'", brief(name, 100));
  }
  if (request.contains("arguments")) parsed.arguments = request["arguments"].dump();
  if (request.contains("by") && request["by"].is_number_integer()) parsed.by = request["by"];
  parsed.follows = request.value("follow", nlohmann::json()) == true;
  return parsed;
}

}  // namespace sitter
