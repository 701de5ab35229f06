#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sitter/time.hpp"

namespace sitter {

/// What the shell knows about the file under development.
struct BinaryFacts {
  struct File {
    std::string path;
    std::optional<std::int64_t> size;
    std::optional<WallTime> modified;
  };

  /// The file as it was when the running child was started.
  struct Loaded {
    std::optional<WallTime> modified;
    std::optional<std::int64_t> size;
    WallTime since;
  };

  std::optional<std::string> path;
  bool exists = false;
  std::optional<std::int64_t> size;
  std::optional<WallTime> modified;
  std::optional<File> interpreter;
  /// The compiled program that a script of a shell runs, if it is known. `modified` is its time.
  std::optional<std::string> behind;
  std::optional<std::string> build_id;
  std::optional<Loaded> loaded;
  std::optional<bool> stale;
};

}  // namespace sitter
