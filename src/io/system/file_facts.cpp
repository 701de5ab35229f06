#include "io/system/file_facts.hpp"

namespace sitter {

std::string system_path(const std::string& path) {
  const bool is_root = path.empty() || (path.size() == 2 && path[1] == ':');
  return is_root ? path + '/' : path;
}

}  // namespace sitter
