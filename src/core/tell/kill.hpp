#pragma once

#include <string>

#include "core/child/kill_report.hpp"
#include "sitter/kill_scope.hpp"

namespace sitter {

/// Why sitter_kill ends nothing, and what the scope same-executable would have ended.
std::string refusal_text(const SharedImage& shared);

/// The text that sitter_kill returns.
std::string kill_text(const KillReport& report);

}  // namespace sitter
