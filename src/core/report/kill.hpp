#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/child/child_end.hpp"
#include "core/child/kill_report.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many processes that a sitter_kill did not end are named: enough to see what they are. A busy
/// machine has hundreds of shells.
inline constexpr std::size_t kShownStrangersMax = 20;

}  // namespace limits

/// Why sitter_kill ends nothing, and what the scope same-executable would have ended.
std::string refusal_text(const SharedImage& shared);

/// Says that there was nothing to kill, how the last server has ended, and how long ago.
std::string not_running_words(const ChildEnd& last, WallTime::duration ago);
std::string not_running_words();

/// What a kill does to a daemon that was not started here, in a sentence. `listening` is its
/// process, if it is known.
std::string foreign_kill_words(std::string_view url, std::optional<std::int64_t> listening);

/// The text that sitter_kill returns.
std::string kill_text(const KillReport& report);

}  // namespace sitter
