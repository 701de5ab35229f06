#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "io/system/private_file.hpp"

namespace sitter {

FileDescriptor create_private_file(const std::string& path) {
  return FileDescriptor(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

void make_private_folder(const std::string& path) { mkdir(path.c_str(), S_IRWXU); }

bool write_whole(const FileDescriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file.number(), text.data(), text.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::error_code move_over(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  return {errno, std::system_category()};
}

}  // namespace sitter
