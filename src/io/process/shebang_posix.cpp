#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "io/process/shebang.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

std::string first_line_of(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  char buffer[256];
  ssize_t count = file.is_open() ? read(file.number(), buffer, sizeof buffer) : 0;
  std::string_view head(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return std::string(head.substr(0, head.find('\n')));
}

std::vector<std::string> shebang_words(std::string_view first_line) {
  constexpr std::string_view kMark = "#!";
  constexpr std::string_view kBlank = " \t";
  std::vector<std::string> words;
  if (!first_line.starts_with(kMark)) return words;
  first_line.remove_prefix(kMark.size());
  while (true) {
    first_line.remove_prefix(std::min(first_line.find_first_not_of(kBlank), first_line.size()));
    if (first_line.empty()) return words;
    std::size_t end = std::min(first_line.find_first_of(kBlank), first_line.size());
    words.emplace_back(first_line.substr(0, end));
    first_line.remove_prefix(end);
  }
}

}  // namespace sitter
