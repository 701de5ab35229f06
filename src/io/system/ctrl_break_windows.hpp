#pragma once

#include <vector>

namespace sitter::windows {

/// Asks the console programs of a process group to end, soon. The first of these processes leads
/// the group.
void send_break(const std::vector<long>& group);

}  // namespace sitter::windows
