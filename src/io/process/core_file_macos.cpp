#include <mach-o/loader.h>
#include <unistd.h>

#include "io/process/core_file.hpp"

namespace sitter {

std::optional<CoreFacts> read_core(int file) {
  mach_header_64 head{};
  const bool is_whole = pread(file, &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head);
  if (!is_whole || head.magic != MH_MAGIC_64 || head.filetype != MH_CORE) return std::nullopt;
  return CoreFacts();
}

}  // namespace sitter
