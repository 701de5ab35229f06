#pragma once

namespace sitter {

/// The number of a child: 1 for the first child, and never used twice. Every fact that comes from a
/// child carries its number, so that a dead child is never confused with its successor. Builds have
/// the numbers -1, -2 and so on, so that the same facts and orders serve children and builds.
using Generation = int;

/// No child at all.
inline constexpr Generation kNoGeneration = 0;

inline bool is_build(Generation gen) { return gen < kNoGeneration; }

}  // namespace sitter
