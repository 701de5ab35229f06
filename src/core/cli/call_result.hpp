#pragma once

#include <string>
#include <vector>

#include "core/cli/description.hpp"
#include "core/cli/kept_output.hpp"
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
///     the run         stdout                      the result
///     has worked      {"content":[...]}           as it is
///     has worked      another JSON object         structuredContent, and the text
///     has worked      bytes of an image or sound  an image or sound, if the tool has a
///     content_type has worked      anything else               the text has failed      anything
///     an error: stdout, the end of stderr, the status
///
/// An object that does not fit the tool's outputSchema is an error, since clients refuse it.
std::string call_result(const CliTool& tool, const RunOutcome& outcome);

}  // namespace sitter
