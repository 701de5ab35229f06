#pragma once

#include <cstddef>

#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

/// The bounds that several rooms keep, each with the reason for its number. Any other bound stands
/// with the one module that keeps it.
namespace sitter::limits {

/// How many bytes may be queued in one direction before the bridge stops reading from the other
/// side.
inline constexpr std::size_t kQueueBytesMax = 16 * kMiB;

/// The bytes of each list that is compared after a respawn, or kept: enough for two thousand tools
/// of 2 KiB.
inline constexpr std::size_t kListBytesMax = 4 * kMiB;

/// How long a new child may take for what it must answer before it serves. The client's request
/// waits meanwhile, and a list that is never answered must not use up the 60 s that the official
/// TypeScript clients wait. Of the lists, the tools matter most. Restoring the settings of the
/// session may take as long as listing the tools, and the request that finds out the era of the
/// child as long as the other lists.
inline constexpr Milliseconds kToolsListWait{2000};
inline constexpr Milliseconds kOtherListWait{1000};

/// Bytes that are kept of a single line of a child's stderr. Only the beginning of a longer line is
/// kept, since otherwise one dump would push out all earlier lines.
inline constexpr std::size_t kStderrLineMax = 8 * kKiB;

/// How many lines one call of sitter_child_stderr shows at most: as many as are kept by default,
/// and far more than a model reads.
inline constexpr std::size_t kShownLinesMax = 1000;

/// How many changed files are told apart: as many as a large checkout touches.
inline constexpr std::size_t kChangedFilesMax = 1000;

/// The most that a description or `--call-timeout` may give a call: a day.
inline constexpr Milliseconds kCallTimeoutMax{86'400'000};

}  // namespace sitter::limits
