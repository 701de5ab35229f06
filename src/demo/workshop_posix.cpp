#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>  // mkdtemp on macOS

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "demo/workshop.hpp"

namespace sitter {

Workshop::Workshop(const std::string& word) {
  std::error_code error;
  path_ = (std::filesystem::temp_directory_path(error) / (word + "-XXXXXX")).string();
  if (error) throw std::runtime_error("TMPDIR names no folder: " + error.message());
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error("the temporary folder " + path_ +
                             " can't be made: " + std::strerror(errno));
  }
}

Workshop::~Workshop() {
  std::error_code ignored;  // Nothing can be done about a folder that stays.
  std::filesystem::remove_all(path_, ignored);
}

void Workshop::write(std::string_view name, std::string_view text) const {
  const std::string file = path_ + '/' + std::string(name);
  if (!(std::ofstream(file, std::ios::binary) << text << std::flush)) {
    throw std::runtime_error(file + " can't be written");
  }
}

void Workshop::write_program(std::string_view name, std::string_view text) const {
  write(name, text);
  chmod((path_ + '/' + std::string(name)).c_str(), 0755);
}

}  // namespace sitter
