#include "demo/workshop.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "io/system/error_text.hpp"
#include "io/system/startup.hpp"

namespace sitter {

namespace fs = std::filesystem;

Workshop::Workshop(const std::string& word) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (error) throw std::runtime_error("TMPDIR names no folder: " + error_text(error));
  path_ = (temporary / fmt::format("{}-{:016x}", word, random_seed())).generic_string();
  // A folder that is there already may belong to somebody else.
  const bool is_made = fs::create_directory(path_, error);
  if (is_made) fs::permissions(path_, fs::perms::owner_all, error);
  if (is_made && !error) return;
  throw std::runtime_error("the temporary folder " + path_ + " can't be made: " +
                           (error ? error_text(error) : "there is one already"));
}

Workshop::~Workshop() {
  std::error_code ignored;  // Nothing can be done about a folder that stays.
  fs::remove_all(path_, ignored);
}

void Workshop::write(std::string_view name, std::string_view text) const {
  const fs::path file = fs::path(path_) / name;
  if (!(std::ofstream(file, std::ios::binary) << text << std::flush)) {
    throw std::runtime_error(file.generic_string() + " can't be written");
  }
}

void Workshop::write_program(std::string_view name, std::string_view text) const {
  write(name, text);
  std::error_code ignored;  // The first start says that it cannot be executed.
  fs::permissions(fs::path(path_) / name, fs::perms::owner_exec, fs::perm_options::add, ignored);
}

}  // namespace sitter
