#include "io/system/private_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <random>
#include <system_error>

namespace sitter {

bool delete_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  return !error;
}

bool write_private_file(const std::string& path, std::string_view text) {
  // Other processes write the same file, and a leftover of one that was killed does no harm.
  const std::string next = fmt::format("{}.{:08x}", path, std::random_device()());
  FileDescriptor file = create_private_file(next);
  if (!file.is_open()) return false;
  const bool is_whole = write_whole(file, text);
  file.close();
  const bool is_moved = is_whole && !move_over(next, path);
  if (!is_moved) delete_file(next);
  return is_moved;
}

}  // namespace sitter
