#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "io/stream/appending.hpp"

namespace sitter {
namespace {

std::error_code error_of(int number) { return {number, std::generic_category()}; }

}  // namespace

FileDescriptor open_to_append(const std::string& path, std::error_code& error) {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  FileDescriptor file(::open(path.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!file.is_open()) error = error_of(errno);
  return file;
}

std::error_code append(const FileDescriptor& file, std::string_view text) {
  const ssize_t count = ::write(file.number(), text.data(), text.size());
  if (count < 0) return error_of(errno);
  return static_cast<std::size_t>(count) < text.size() ? error_of(ENOSPC) : std::error_code();
}

bool lock_alone(const FileDescriptor& file) { return flock(file.number(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace sitter
