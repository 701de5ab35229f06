#include "journal.hpp"

#include <cstdlib>

#include "process.hpp"

namespace sitter::fake {

Journal::Journal(const std::optional<std::string>& file) {
  if (!file) return;
  descriptor_ = open_to_append(*file);
  if (is_kept()) return;
  say("fake-mcp: " + *file + " cannot be written");
  std::exit(1);
}

Journal::~Journal() {
  if (is_kept()) close_descriptor(descriptor_);
}

void Journal::add(std::string line) const {
  if (is_kept()) write_all(descriptor_, line += '\n');
}

}  // namespace sitter::fake
