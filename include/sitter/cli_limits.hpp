#pragma once

#include <cstddef>

#include "sitter/limits.hpp"
#include "sitter/time.hpp"

// Every bound of a command-line tool that is a server.

namespace sitter::limits {

/// What a run writes is kept up to this size, and beyond it both ends. Models read far less, and
/// clients cut results at 100 kB or so.
inline constexpr std::size_t kRunOutputMax = 1 * kMiB;

/// How many lines of the stderr of a failed run its result shows. The rest is in the ring.
inline constexpr std::size_t kRunErrorLinesMax = 20;

/// How many runs go on at once unless `--max-calls` says otherwise. A tool takes a core each.
inline constexpr std::size_t kCallsMaxDefault = 8;

/// How long a call may take unless `--call-timeout` says otherwise. TypeScript clients give a call
/// up after 60 s.
inline constexpr Milliseconds kCallTimeoutDefault{55'000};

/// The most that a description or `--call-timeout` may give a call: a day.
inline constexpr Milliseconds kCallTimeoutMax{86'400'000};

/// How long the tool may take to describe itself.
inline constexpr Milliseconds kDescriptionTimeout{10'000};

/// A run that has had its SIGTERM has this long until SIGKILL.
inline constexpr Milliseconds kRunGrace{500};

/// A description has at most this many tools; models take a few hundred.
inline constexpr std::size_t kDescribedToolsMax = 10'000;

/// A word of a command has at most this many bytes (MAX_ARG_STRLEN, execve(2)).
inline constexpr std::size_t kWordBytesMax = 128 * kKiB - 1;

/// The words of a command have at most this many bytes together: the most that Linux takes with the
/// environment, whatever the limit of the stack (execve(2)).
inline constexpr std::size_t kCommandBytesMax = 6 * kMiB;

/// What a command reads from its stdin has at most this many bytes, and so have its variables and
/// its directory. A place may stand in them several times, and messages are far smaller.
inline constexpr std::size_t kInputBytesMax = 64 * kMiB;

/// How many calls may wait for their turn, and how many bytes their arguments may have together.
/// Clients make a few dozen calls at once.
inline constexpr std::size_t kWaitingCallsMax = 10'000;
inline constexpr std::size_t kWaitingCallBytesMax = 64 * kMiB;

/// How many progress notifications a call gets per second for what the tool writes to stderr.
inline constexpr int kRunProgressPerSecond = 4;

}  // namespace sitter::limits
