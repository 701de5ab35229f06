#pragma once

#include <string>

#include "io/files/binary_info.hpp"
#include "io/process/launch_plan.hpp"
#include "sitter/order.hpp"

/// What earlier starts of commands have shown of their eras, so that a client that only probes need
/// not start a command that is known to fail the probe. It is kept in the file mcp-sitter/eras of
/// the user's cache, which only the user can read and which may be removed at any time. The file
/// holds no words of a command, only a hash of them.
namespace sitter {

/// At most this many commands are remembered, those that were started last.
inline constexpr std::size_t kErasMax = 64;

/// What a command is known by: its words, its working directory, its environment, and the file
/// under development. Empty if that file is not known, as behind `docker run`.
std::string era_key(const PlannedLaunch& planned, const BinaryInfo& binary);

/// Whether the command, as it would be started now, is known to speak only revisions with
/// initialize.
bool is_of_earlier_era(const LaunchRequest& request);

/// Remembers a sign, as far as it matters. A file that cannot be written is no error: the next
/// probe starts the command.
void note_era(const std::string& key, order::RememberEra::Sign sign);

/// Makes the next probe start the command.
void forget_era(const LaunchRequest& request);

}  // namespace sitter
