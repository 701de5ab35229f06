#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "io/system/file_descriptor.hpp"

namespace sitter {
namespace {

/// More than most files have that are read at each start.
constexpr std::size_t kPiece = 4096;

}  // namespace

void FileDescriptor::close() {
  // The call is not repeated after EINTR: by then the number is free and may name another file.
  if (is_open()) ::close(release());
}

bool may_open_files(std::size_t count) {
  std::vector<FileDescriptor> opened;
  while (opened.size() < count) {
    opened.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!opened.back().is_open()) return errno != EMFILE && errno != ENFILE;
  }
  return true;
}

std::string read_head(const std::string& path, std::size_t size_max) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string head(size_max, '\0');
  const ssize_t count = file.is_open() ? read(file.number(), head.data(), head.size()) : 0;
  head.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return head;
}

std::optional<std::string> read_whole_file(const std::string& path, std::size_t size_max,
                                           std::string& problem) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string text;
  std::size_t length = 0;
  bool is_failed = !file.is_open();
  while (!is_failed && length <= size_max) {
    if (length == text.size()) text.resize(std::min(size_max + 1, 2 * length + kPiece));
    const ssize_t count = read(file.number(), text.data() + length, text.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) break;
    is_failed = count < 0;
    if (!is_failed) length += static_cast<std::size_t>(count);
  }
  if (is_failed) {
    problem = errno == ENOENT ? "no such file" : std::strerror(errno);
    return std::nullopt;
  }
  if (length > size_max) {
    problem = fmt::format("it has more than {} bytes", size_max);
    return std::nullopt;
  }
  text.resize(length);
  return text;
}

}  // namespace sitter
