#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/stream/log_file.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::system_error(error, std::generic_category(), path);
}

}  // namespace

LogFile::LogFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;  // the file then cannot be opened
  fs::create_directories(fs::path(path_).parent_path(), ignored);
  open();
}

void LogFile::open() {
  struct stat facts {};
  // To open a FIFO is to wait for its reader.
  if (stat(path_.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISCHR(facts.st_mode)) {
    fail(path_ + " is no file that a log can be written to", EINVAL);
  }
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  file_ = FileDescriptor(::open(path_.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!file_.is_open()) fail(path_, errno);
}

void LogFile::write(std::string_view line) {
  if (!file_.is_open()) open();
  struct stat facts {};
  if (fstat(file_.number(), &facts) == 0 && facts.st_size > 0 &&
      static_cast<std::size_t>(facts.st_size) + line.size() > limits::kLogFileMax) {
    make_room();
  }
  const ssize_t count = ::write(file_.number(), line.data(), line.size());
  if (count < 0) fail(path_, errno);
  if (static_cast<std::size_t>(count) < line.size()) fail(path_, ENOSPC);
}

/// Renames the files, unless another process has done so, or does so now.
void LogFile::make_room() {
  struct stat open_now {
  }, at_path{};
  if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0) return;
  const bool is_ours = fstat(file_.number(), &open_now) == 0 &&
                       stat(path_.c_str(), &at_path) == 0 && open_now.st_ino == at_path.st_ino &&
                       open_now.st_dev == at_path.st_dev;
  if (is_ours) {
    for (int number = limits::kOldLogFiles; number > 0; --number) {
      std::rename(old_path(number - 1).c_str(), old_path(number).c_str());
    }
  }
  // The lock ends with the descriptor.
  file_.close();
  open();
}

std::string LogFile::old_path(int number) const {
  if (number == 0) return path_;
  const fs::path path(path_);
  const std::string name =
      fmt::format("{}.{}{}", path.stem().string(), number, path.extension().string());
  return (path.parent_path() / name).string();
}

}  // namespace sitter
