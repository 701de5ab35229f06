#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/system/file_descriptor.hpp"
#include "io/system/private_file.hpp"
#include "io/system/signals.hpp"
#include "setup/settings_file.hpp"
#include "setup/temporary_file.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

}  // namespace

SettingsLock::SettingsLock(const std::string& path) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(path, error).parent_path();
  while (!fs::is_directory(folder, error) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  FileDescriptor locked(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (locked.is_open() && flock(locked.number(), LOCK_EX) != 0 && errno == EINTR) continue;
  held_ = std::make_shared<FileDescriptor>(std::move(locked));
}

const std::string_view kAllowWriting = "allow writing with chmod u+w";

/// The administrator may write everywhere, but a file that nobody may write is meant to stay.
bool is_read_only(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 &&
         ((found.st_mode & 0222) == 0 || access(path.c_str(), W_OK) != 0);
}

struct TemporaryFile::System {
  const SignalsBlocked blocked;
  std::string path;
  FileDescriptor file;
  int error = 0;

  bool noted(bool is_done) {
    if (!is_done) error = errno;
    return is_done;
  }
};

TemporaryFile::TemporaryFile(const std::string& beside) : system_(std::make_unique<System>()) {
  system_->path = (fs::path(beside).parent_path() / ".mcp-sitter-XXXXXX").native();
  system_->file = FileDescriptor(mkostemp(system_->path.data(), O_CLOEXEC));
  system_->noted(is_open());
}

TemporaryFile::~TemporaryFile() {
  if (is_open()) unlink(system_->path.c_str());
}

bool TemporaryFile::is_open() const { return system_->file.is_open(); }

bool TemporaryFile::write(std::string_view text) {
  return system_->noted(write_whole(system_->file, text) && fsync(system_->file.number()) == 0);
}

bool TemporaryFile::resemble(const std::string& path) {
  const int file = system_->file.number();
  struct stat other {
  }, own{};
  if (!system_->noted(stat(path.c_str(), &other) == 0 && fstat(file, &own) == 0)) return false;
  const bool is_owned = own.st_uid == other.st_uid && own.st_gid == other.st_gid;
  return system_->noted((is_owned || fchown(file, other.st_uid, other.st_gid) == 0) &&
                        fchmod(file, other.st_mode & 07777) == 0);
}

bool TemporaryFile::make_private() {
  return system_->noted(fchmod(system_->file.number(), 0600) == 0);
}

bool TemporaryFile::move_to(const std::string& path) {
  if (!system_->noted(rename(system_->path.c_str(), path.c_str()) == 0)) return false;
  system_->file.close();
  const FileDescriptor folder(
      open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // The file is complete in any case. Some file systems have nothing to do here and say so.
  if (folder.is_open()) fsync(folder.number());
  return true;
}

std::string TemporaryFile::problem() const { return std::strerror(system_->error); }

}  // namespace sitter::setup
