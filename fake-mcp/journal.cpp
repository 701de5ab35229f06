#include "journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "process.hpp"

namespace sitter::fake {

Journal::Journal(const std::optional<std::string>& file) {
  if (!file) return;
  descriptor_ = ::open(file->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (is_kept()) return;
  say("fake-mcp: " + *file + " cannot be written");
  std::exit(1);
}

Journal::~Journal() {
  if (is_kept()) ::close(descriptor_);
}

void Journal::add(std::string line) const {
  if (is_kept()) write_all(descriptor_, line += '\n');
}

}  // namespace sitter::fake
