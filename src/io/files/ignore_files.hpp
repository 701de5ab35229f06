#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/paths.hpp"
#include "core/rebuild/watch_filter.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// The largest .gitignore file that is read. The longest published ones have a few thousand lines.
inline constexpr std::size_t kIgnoreFileBytesMax = kMiB;

}  // namespace limits

inline constexpr std::string_view kIgnoreFile = ".gitignore";

/// Gives the filter the ignore file of this folder. A file above the size limit is cut.
void read_ignore_file(const std::string& folder, WatchFilter& filter);

/// Gives the filter the ignore files above the folder: up to the top of the repository or, without
/// a repository, up to the base of the filter.
void read_ignore_files_above(const std::string& folder, WatchFilter& filter);

/// Tells the filter whether tools have made this folder. Returns whether that is new.
bool read_marks(const std::string& folder, WatchFilter& filter);

}  // namespace sitter
