#pragma once

#include <optional>
#include <string>

namespace sitter {

/// What a core dump says of its process.
struct CoreFacts {
  /// The file of the program; empty if the core dump does not say it.
  std::string program;
  /// The process, and its session; 0 if the core dump does not say them.
  long pid = 0;
  long session = 0;
};

/// Reads an open file. Nothing if it is no core dump of this system.
std::optional<CoreFacts> read_core(int file);

}  // namespace sitter
