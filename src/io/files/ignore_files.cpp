#include "io/files/ignore_files.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "core/rebuild/made_folders.hpp"
#include "io/system/path_style.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> ignore_file_in(const std::string& folder) {
  const std::string path = folder + '/' + std::string(kIgnoreFile);
  std::error_code error;
  // Opening a FIFO would block.
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(fs::path(path), std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(limits::kIgnoreFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool has_file(const std::string& folder, std::string_view name) {
  std::error_code error;
  if (!name.starts_with('*')) return fs::exists(folder + '/' + std::string(name), error);
  // Without the slash, the root of the file system would be an empty path.
  for (fs::directory_iterator entry(folder + '/', error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().string().ends_with(name.substr(1))) return true;
  }
  return false;
}

}  // namespace

void read_ignore_file(const std::string& folder, WatchFilter& filter) {
  filter.set_ignore_file(folder, ignore_file_in(folder));
}

void read_ignore_files_above(const std::string& folder, WatchFilter& filter) {
  std::vector<std::string> folders;
  bool is_in_repository = false;
  for (std::string above = folder; !above.empty() && !is_in_repository;) {
    above = parent_of(above);
    folders.push_back(above);
    std::error_code error;
    is_in_repository = fs::exists(above + "/.git", error);
  }
  for (const std::string& above : folders) {
    if (!is_in_repository && !is_at_or_below(above, filter.base(), kPathStyle)) return;
    read_ignore_file(above, filter);
  }
}

bool read_marks(const std::string& folder, WatchFilter& filter) {
  return filter.set_made_by_tools(folder, is_made_by_tools(folder, has_file));
}

}  // namespace sitter
