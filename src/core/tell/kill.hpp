#pragma once

#include <string>

#include "core/child/kill_report.hpp"
#include "sitter/kill_scope.hpp"

namespace sitter {

/// Why sitter_kill ends nothing: what the scope same-executable would have ended.
std::string refusal_text(const SharedImage& shared);

/// What sitter_kill shows.
std::string kill_text(const KillReport& report);

}  // namespace sitter
