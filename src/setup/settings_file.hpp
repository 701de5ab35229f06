#pragma once

#include <memory>
#include <optional>
#include <string>

namespace sitter::setup {

/// Keeps other runs of `setup` away from a settings file while it lives: they wait. Clients do not
/// know the lock, which is on the folder (flock(2)) or has its name (CreateMutexW), so that no file
/// is left behind. On a file system without locks, nothing is locked.
class SettingsLock {
 public:
  explicit SettingsLock(const std::string& path);

 private:
  std::shared_ptr<void> held_;
};

/// The bytes of a settings file; nothing if there is no such file. Throws Failure if it cannot be
/// read.
std::optional<std::string> read_settings(const std::string& path);

/// Replaces the file in one step, and makes it and its folders if they are missing. The file keeps
/// its mode and its owner, and a symbolic link stays a link. Nothing happens and the result is
/// false if the file does not hold `expected` any more. Throws Failure if it cannot be written; the
/// old file is then untouched.
bool replace_file(const std::string& path, const std::optional<std::string>& expected,
                  const std::string& text);

/// Writes a copy that nobody can read who cannot read `original` too. Throws Failure.
void write_copy(const std::string& path, const std::string& original, const std::string& text);

/// Throws Failure if the file is there afterwards.
void remove_file(const std::string& path);

}  // namespace sitter::setup
