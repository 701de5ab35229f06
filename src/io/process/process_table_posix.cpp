#include <cstdlib>

#include "io/process/process_table.hpp"

namespace sitter {

// A program that runs is replaced by another file with its name.
bool locks_files() { return false; }
std::vector<std::string> locked_files_of(long) { return {}; }

ImageIdentity image_at(const std::string& path) {
  ImageIdentity image = identity_at(path);
  char* real = realpath(path.c_str(), nullptr);
  if (real != nullptr) image.path = real;
  std::free(real);
  return image;
}

}  // namespace sitter
