#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/schema/json_schema.hpp"
#include "core/tool_server/command_template.hpp"
#include "core/tool_server/text_template.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// A description has at most this many tools; models take a few hundred.
inline constexpr std::size_t kDescribedToolsMax = 10'000;

}  // namespace limits

/// A command of the tool, as it is offered to the client and as it is run.
struct CliTool {
  std::string name;
  /// The raw object for the answer to tools/list.
  std::string listed;
  JsonSchema arguments;
  /// The schema of `structuredContent`.
  std::optional<JsonSchema> output = {};
  CommandTemplate command;
  /// What the command reads. Without it, its stdin is at its end.
  std::optional<TextTemplate> input = {};
  /// Variables of the environment. One whose argument is missing is not set.
  std::vector<std::pair<std::string, TextTemplate>> environment = {};
  /// The directory to run in. Empty: that of the bridge's own child.
  std::optional<TextTemplate> cwd = {};
  /// Empty: the limit of all calls.
  std::optional<Milliseconds> timeout = {};
  std::set<int> ok_exit_codes{0};
  /// The media type of an image or a sound that the command writes; empty for text.
  std::string content_type = {};
};

/// All commands of a tool.
struct Description {
  std::vector<CliTool> tools;
  /// Of the tool; empty if the description does not say it.
  std::string version = {};
  /// What of the description has no effect, as sentences.
  std::vector<std::string> remarks;

  /// Null if there is no such tool.
  const CliTool* find(std::string_view name) const;
};

/// Reads a description, whose form shows from its shape:
///
///     {"tools":[{"name":..., "parameters" or "inputSchema":..., "cli_command":[...]}]}
///     [{"type":"function","function":{"name":..., "parameters":...},"cli_command":[...]}]
///     {"bin":...,"cmd":{...}}   as `usage generate json` writes it (https://usage.jdx.dev)
///
/// A list of tools may also stand alone or in the member `result` of an answer to tools/list. A
/// command may begin with the tool itself, as one of `tool_names`.
std::variant<Description, Complaint> read_description(std::string_view text,
                                                      const ToolNames& tool_names);

}  // namespace sitter
