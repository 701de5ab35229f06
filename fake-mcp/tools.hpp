#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session.hpp"

namespace sitter::fake {

/// The definitions of the built-in tools. Some exist only if the server speaks more than the legacy
/// era.
std::vector<std::string> builtin_tools(const Options& options);

/// Runs the tool that the raw params of a tools/call name, and ensures its answer. A built-in tool
/// runs whether it is listed or not. A listed tool that is not built in answers with its arguments
/// as text.
void run_tool(Session& session, std::string_view id, std::string_view params);

}  // namespace sitter::fake
