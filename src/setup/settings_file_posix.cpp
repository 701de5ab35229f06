#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/system/file_descriptor.hpp"
#include "io/system/signals.hpp"
#include "setup/document.hpp"
#include "setup/settings_file.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

/// Clients keep their history in the same file, but never more than this.
constexpr std::size_t kSettingsMax = std::size_t{16} << 20;

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw Failure{fmt::format("{} cannot be written: {}; nothing was changed", path, what)};
}

/// The file that the path leads to.
std::string target_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  if (error) refuse(path, "it is a link that leads nowhere");
  return target.native();
}

void make_folder_of(const std::string& file) {
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  if (error) refuse(file, error.message());
}

/// A file that vanishes unless it is moved to its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& beside)
      : path_((fs::path(beside).parent_path() / ".mcp-sitter-XXXXXX").native()),
        file_(mkostemp(path_.data(), O_CLOEXEC)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_.is_open()) unlink(path_.c_str());
  }

  bool is_open() const { return file_.is_open(); }

  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(file_.number(), text.data(), text.size());
      if (count < 0 && errno != EINTR) return false;
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
    return fsync(file_.number()) == 0;
  }

  /// Gives the file the mode and the owner of another one.
  bool resemble(const struct stat& other) {
    struct stat own {};
    if (fstat(file_.number(), &own) != 0) return false;
    const bool is_owned = own.st_uid == other.st_uid && own.st_gid == other.st_gid;
    if (!is_owned && fchown(file_.number(), other.st_uid, other.st_gid) != 0) return false;
    return fchmod(file_.number(), other.st_mode & 07777) == 0;
  }

  bool set_mode(mode_t mode) { return fchmod(file_.number(), mode) == 0; }

  bool move_to(const std::string& path) {
    if (rename(path_.c_str(), path.c_str()) != 0) return false;
    file_.close();
    const FileDescriptor folder(
        open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // The file is complete in any case. Some file systems have nothing to do here and say so.
    if (folder.is_open()) fsync(folder.number());
    return true;
  }

 private:
  std::string path_;
  FileDescriptor file_;
};

/// The administrator may write everywhere, but a file that nobody may write is meant to stay.
bool is_read_only(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 &&
         ((found.st_mode & 0222) == 0 || access(path.c_str(), W_OK) != 0);
}

}  // namespace

SettingsLock::SettingsLock(const std::string& path) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(path, error).parent_path();
  while (!fs::is_directory(folder, error) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  folder_ = FileDescriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (folder_.is_open() && flock(folder_.number(), LOCK_EX) != 0 && errno == EINTR) continue;
}

std::optional<std::string> read_settings(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (error) throw Failure{fmt::format("{} cannot be read: {}", path, error.message())};
  const std::string target = target_of(path);
  if (!fs::is_regular_file(target, error)) {
    throw Failure{fmt::format("{} is not a file; replace it with one first", path)};
  }
  std::string problem;
  auto text = read_whole_file(target, kSettingsMax, problem);
  if (!text) throw Failure{fmt::format("{} cannot be read: {}", path, problem)};
  return text;
}

bool replace_file(const std::string& path, const std::optional<std::string>& expected,
                  const std::string& text) {
  const std::string target = target_of(path);
  const fs::path folder = fs::path(target).parent_path();
  make_folder_of(target);
  struct stat old {};
  const bool is_there = stat(target.c_str(), &old) == 0;
  if (is_there && is_read_only(target)) {
    refuse(path, "it is read-only; allow writing with chmod u+w");
  }
  if (is_read_only(folder.native())) {
    refuse(path, fmt::format("the folder {} is read-only; allow writing with chmod u+w",
                             folder.native()));
  }
  // A signal must not leave the temporary file behind, which may hold secrets.
  const SignalsBlocked blocked;
  TemporaryFile temporary(target);
  if (!temporary.is_open() || !temporary.write(text)) refuse(path, std::strerror(errno));
  // A new file may hold secrets soon, as the files of the clients do.
  if (!(is_there ? temporary.resemble(old) : temporary.set_mode(0600))) {
    refuse(path, fmt::format("its mode and owner cannot be kept ({})", std::strerror(errno)));
  }
  if (read_settings(path) != expected) return false;
  if (!temporary.move_to(target)) refuse(path, std::strerror(errno));
  return true;
}

void write_copy(const std::string& path, const std::string& original, const std::string& text) {
  make_folder_of(original);
  struct stat old {};
  const bool is_there = stat(original.c_str(), &old) == 0;
  const SignalsBlocked blocked;
  TemporaryFile temporary(path);
  const bool is_written =
      temporary.is_open() && temporary.write(text) &&
      // With another group, the mode of the file could let other people read the copy.
      (!is_there || temporary.resemble(old) || temporary.set_mode(0600)) && temporary.move_to(path);
  if (!is_written) {
    throw Failure{fmt::format(
        "no copy of {} can be kept ({}), so nothing was changed; make its folder writable",
        original, std::strerror(errno))};
  }
}

void remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    throw Failure{
        fmt::format("{} cannot be removed: {}; remove it by hand", path, std::strerror(errno))};
  }
}

}  // namespace sitter::setup
