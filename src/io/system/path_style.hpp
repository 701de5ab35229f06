#pragma once

#include <string_view>

#include "core/base/paths.hpp"

namespace sitter {

/// How this system names its files.
extern const PathStyle kPathStyle;

/// The order of paths on this system, in which two spellings of one path are the same.
struct PathLess {
  using is_transparent = void;
  bool operator()(std::string_view one, std::string_view other) const {
    return comes_before(one, other, kPathStyle);
  }
};

}  // namespace sitter
