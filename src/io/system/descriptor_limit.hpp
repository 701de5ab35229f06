#pragma once

#include <cstddef>

/// How many descriptors a process may have open (getrlimit(2), RLIMIT_NOFILE).
namespace sitter::descriptor_limit {

/// Raises the limit of this process to `wanted`, or as far as its hard limit allows. Returns the
/// limit that holds then, which may have been higher before.
std::size_t raise(std::size_t wanted);

/// Gives this process the limit that it had before `raise`. May be used between fork and exec.
// A child may close each descriptor that it could have, or use select(2).
void restore();

}  // namespace sitter::descriptor_limit
