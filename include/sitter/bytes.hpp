#pragma once

#include <cstddef>

namespace sitter::limits {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

}  // namespace sitter::limits
