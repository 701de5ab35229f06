#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sitter {

/// How a system names its files. Inside the program, every path has slashes.
enum class PathStyle : std::uint8_t {
  /// One root. Case matters.
  posix,
  /// A root for each drive (C:) and each shared folder (//host/share). A user may write backslashes
  /// in the place of slashes. The case of ASCII letters does not matter. That of other letters
  /// does, although Windows ignores it there too.
  windows,
};

/// The root of an absolute path, without a slash at the end: "C:", "//host/share" or, as on POSIX,
/// nothing. Empty if the path is relative.
std::optional<std::string_view> root_of(std::string_view path, PathStyle style);

/// The folder that holds this absolute path. The root of the file system is an empty path on POSIX;
/// on Windows, an empty path holds all roots.
std::string parent_of(const std::string& path);

/// The text in the form in which equal names are equal texts.
std::string folded(std::string_view path, PathStyle style);

bool is_same_path(std::string_view one, std::string_view other, PathStyle style);

/// Whether the path is the folder, or is in it at any depth.
bool is_at_or_below(std::string_view path, std::string_view folder,
                    PathStyle style = PathStyle::posix);

/// An order of paths, in which equal paths are the same.
bool comes_before(std::string_view one, std::string_view other, PathStyle style);

/// Removes the folder and everything below it from a map or a set of paths. Calls `visit` with each
/// element before.
template <class Paths, class Visit>
void erase_at_or_below(Paths& paths, const std::string& folder, Visit visit) {
  const auto erase = [&](auto from, auto to) {
    std::for_each(from, to, visit);
    paths.erase(from, to);
  };
  const auto [itself, next] = paths.equal_range(folder);
  erase(itself, next);
  // '0' is the character after the slash.
  erase(paths.lower_bound(folder + '/'), paths.lower_bound(folder + '0'));
}
template <class Paths>
void erase_at_or_below(Paths& paths, const std::string& folder) {
  erase_at_or_below(paths, folder, [](const auto&) {});
}

}  // namespace sitter
