#pragma once

#include <string>
#include <vector>

#include "core/tool_server/description.hpp"
#include "core/tool_server/kept_output.hpp"
#include "sitter/exit_status.hpp"

namespace sitter {

/// How a run of a tool has ended.
struct RunOutcome {
  const KeptOutput& output;
  /// The last lines of the stderr.
  std::vector<std::string> error_lines = {};
  ExitStatus status = {};
  /// Why the run was ended from here, as a clause with the run as its subject; empty if it was not.
  std::string stopped = {};
};

/// The result of the call as raw JSON:
///
///     the run has  stdout                         the result
///     worked       {"content":[...]}              as it is
///     worked       another JSON object            structuredContent, and the text
///     worked       bytes, and the tool has a      an image or sound
///                  content_type of such bytes
///     worked       anything else                  the text
///     failed       anything                       an error: stdout, the end of stderr, the status
///
/// An object with content that clients would not take as a result is another JSON object.
/// An object that does not fit the tool's outputSchema is an error, since clients refuse it.
std::string call_result(const CliTool& tool, const RunOutcome& outcome);

}  // namespace sitter
