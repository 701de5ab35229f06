#pragma once

#include <string>
#include <string_view>

namespace sitter {

/// A temporary folder, which its destructor removes.
class Workshop {
 public:
  /// The folder's name begins with this word. Throws std::runtime_error if there is no place for
  /// it.
  explicit Workshop(const std::string& word);
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop();

  const std::string& path() const { return path_; }

  /// Writes a file of the folder. Throws std::runtime_error if that fails.
  void write(std::string_view name, std::string_view text) const;
  /// The same for a file that can be executed.
  void write_program(std::string_view name, std::string_view text) const;

 private:
  std::string path_;
};

}  // namespace sitter
