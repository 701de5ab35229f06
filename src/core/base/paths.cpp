#include "core/base/paths.hpp"

#include "core/base/ascii.hpp"

namespace sitter {
namespace {

bool is_equal(char one, char other) { return ascii_lower(one) == ascii_lower(other); }
bool is_less(char one, char other) {
  return static_cast<unsigned char>(ascii_lower(one)) <
         static_cast<unsigned char>(ascii_lower(other));
}

bool starts_with(std::string_view path, std::string_view begin, PathStyle style) {
  return path.size() >= begin.size() && is_same_path(path.substr(0, begin.size()), begin, style);
}

}  // namespace

std::optional<std::string_view> root_of(std::string_view path, PathStyle style) {
  if (style == PathStyle::posix) {
    return path.starts_with('/') ? std::optional(path.substr(0, 0)) : std::nullopt;
  }
  const bool has_drive = path.size() >= 2 && path[1] == ':' && is_ascii_letter(path[0]);
  // "C:a" is relative to the folder in which the drive was used last.
  if (has_drive && (path.size() == 2 || path[2] == '/')) return path.substr(0, 2);
  if (!path.starts_with("//")) return std::nullopt;
  const std::size_t share = std::min(path.find('/', 2), path.size());
  return path.substr(0, std::min(path.find('/', share + 1), path.size()));
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string parent = path.substr(0, slash == path.npos ? 0 : slash);
  // Nothing can be asked about a host.
  if (path.starts_with("//") && parent.find('/', 2) == parent.npos) parent.clear();
  return parent;
}

std::string folded(std::string_view path, PathStyle style) {
  return style == PathStyle::posix ? std::string(path) : ascii_lower(path);
}

bool is_same_path(std::string_view one, std::string_view other, PathStyle style) {
  if (style == PathStyle::posix) return one == other;
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), is_equal);
}

bool is_at_or_below(std::string_view path, std::string_view folder, PathStyle style) {
  return starts_with(path, folder, style) &&
         (folder.empty() || path.size() == folder.size() || path[folder.size()] == '/');
}

bool comes_before(std::string_view one, std::string_view other, PathStyle style) {
  if (style == PathStyle::posix) return one < other;
  return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end(), is_less);
}

}  // namespace sitter
