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

  /// What a program for Windows says about itself (VS_VERSIONINFO). What it does not say is empty.
  struct Version {
    std::string file_version;
    std::string product_version;
    std::string product_name;
    std::string description;
    std::string company;
    std::string copyright;
    bool is_debug = false;

    friend bool operator==(const Version&, const Version&) = default;
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
  std::optional<Version> version;
  std::optional<Loaded> loaded;
  std::optional<bool> stale;
};

}  // namespace sitter
