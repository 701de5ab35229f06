#pragma once

namespace sitter {

/// The number of a child: 1 for the first that was started, never used twice. Every fact that comes
/// from a child carries it, so that a dead child is never taken for its successor.
using Generation = int;

/// No child at all.
inline constexpr Generation kNoGeneration = 0;

}  // namespace sitter
