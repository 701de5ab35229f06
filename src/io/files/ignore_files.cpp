#include "io/files/ignore_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

namespace sitter {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> ignore_file_in(const std::string& folder) {
  const std::string path = folder + '/' + std::string(kIgnoreFile);
  std::error_code error;
  // Opening a FIFO would block.
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(limits::kIgnoreFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
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
    if (!is_in_repository && !(above + '/').starts_with(filter.base() + '/')) return;
    read_ignore_file(above, filter);
  }
}

std::string parent_of(const std::string& path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

}  // namespace sitter
