#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session.hpp"

namespace sitter::fake {

/// The definitions of the built-in tools. Some are there only if more than the legacy era is
/// spoken.
std::vector<std::string> builtin_tools(const Options& options);

/// Runs the tool that the raw params of a tools/call name, and sees to its answer. A built-in tool
/// runs whether it is listed or not; a tool that is only listed answers its arguments as text.
void run_tool(Session& session, std::string_view id, std::string_view params);

}  // namespace sitter::fake
