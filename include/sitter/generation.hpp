#pragma once

namespace sitter {

/// The number of a child: 1 for the first child, and never used twice. Every fact that comes from a
/// child carries its number, so that a dead child is never confused with its successor. Builds have
/// the numbers -1, -2 and so on, and the runs of a command-line tool have `kFirstRun` and the
/// numbers below it, so that the same facts and orders serve them all.
using Generation = int;

/// No child at all.
inline constexpr Generation kNoGeneration = 0;

inline constexpr Generation kFirstRun = -1'000'000'000;

inline bool is_run(Generation gen) { return gen <= kFirstRun; }
inline bool is_build(Generation gen) { return gen < kNoGeneration && !is_run(gen); }
/// A process that has something to do and is no server.
inline bool is_errand(Generation gen) { return gen < kNoGeneration; }

}  // namespace sitter
