#pragma once

namespace sitter {

/// The number of a child: 1 for the first that was started, never used twice. Every fact that comes
/// from a child carries it, so that a dead child is never taken for its successor. Builds are
/// counted downwards from -1: what runs is told of in the same words, whatever it is.
using Generation = int;

/// No child at all.
inline constexpr Generation kNoGeneration = 0;

inline bool is_build(Generation gen) { return gen < kNoGeneration; }

}  // namespace sitter
