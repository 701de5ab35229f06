#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/system/file_facts.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

FileFacts::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileFacts::Kind::file;
  if (S_ISDIR(mode)) return FileFacts::Kind::folder;
  if (S_ISLNK(mode)) return FileFacts::Kind::link;
  return S_ISCHR(mode) ? FileFacts::Kind::device : FileFacts::Kind::other;
}

FileTime time_of(const timespec& time) {
  return FileTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

FileFacts facts_in(const struct stat& status) {
  return {kind_of(status.st_mode),
          static_cast<std::uint64_t>(status.st_size),
          time_of(platform::written_at(status)),
          time_of(platform::changed_at(status)),
          static_cast<std::uint64_t>(status.st_dev),
          static_cast<std::uint64_t>(status.st_ino)};
}

}  // namespace

const PathStyle kPathStyle = PathStyle::posix;

std::optional<FileFacts> facts_of(const std::string& path) {
  struct stat status {};
  if (stat(system_path(path).c_str(), &status) != 0) return std::nullopt;
  return facts_in(status);
}

std::optional<FileFacts> facts_of_entry(const std::string& path) {
  struct stat status {};
  if (lstat(system_path(path).c_str(), &status) != 0) return std::nullopt;
  return facts_in(status);
}

std::optional<FileFacts> facts_of(const FileDescriptor& file) {
  struct stat status {};
  if (!file.is_open() || fstat(file.number(), &status) != 0) return std::nullopt;
  return facts_in(status);
}

std::string link_text(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

std::string real_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::canonical(path, error).string();
}

struct FolderEntries::System {
  std::unique_ptr<DIR, int (*)(DIR*)> stream;
};

FolderEntries::FolderEntries(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(system_path(path).c_str()), closedir);
  if (stream) system_ = std::make_unique<System>(System{std::move(stream)});
}

FolderEntries::FolderEntries(FolderEntries&& other) noexcept = default;
FolderEntries& FolderEntries::operator=(FolderEntries&& other) noexcept = default;
FolderEntries::~FolderEntries() = default;

FileFacts FolderEntries::facts() const {
  struct stat status {};
  fstat(dirfd(system_->stream.get()), &status);
  return facts_in(status);
}

std::optional<FolderEntries::Entry> FolderEntries::next() {
  DIR* const stream = system_->stream.get();
  while (const dirent* const entry = readdir(stream)) {
    const std::string_view name = entry->d_name;
    struct stat status {};
    if (name == "." || name == ".." ||
        fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    return Entry{std::string(name), facts_in(status)};
  }
  return std::nullopt;
}

}  // namespace sitter
