#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>

namespace sitter::testing {

/// The bytes of a file; empty if there is none.
inline std::string contents_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A directory that is removed at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::random_device random;
    std::filesystem::path made;
    do {
      made = std::filesystem::temp_directory_path() / ("sitter-" + std::to_string(random()));
    } while (!std::filesystem::create_directory(made));
    std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    path_ = std::filesystem::canonical(made).generic_string();
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;  // A file that stays behind does not make the test fail.
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  std::string write(const std::string& name, const std::string& text, unsigned mode = 0644) const {
    const std::string file = place(name);
    std::ofstream(file, std::ios::binary) << text;
    std::filesystem::permissions(file, std::filesystem::perms{mode});
    return file;
  }

  std::string write_script(const std::string& name, const std::string& commands) const {
    return write(name, "#!/bin/sh\n" + commands + "\n", 0755);
  }

  /// Copies a program to an executable file that nobody else runs.
  std::string copy_program(const std::string& name, const std::string& program) const {
    const std::string file = place(name);
    std::filesystem::copy_file(std::filesystem::canonical(program), file);
    return file;
  }

 private:
  std::string place(const std::string& name) const {
    const std::string file = *this / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    return file;
  }

  std::string path_;
};

}  // namespace sitter::testing
