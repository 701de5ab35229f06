#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/process/launch_plan.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The file that is really under development, and what is known of it on disk.
struct BinaryInfo {
  struct Interpreter {
    std::string path;
    std::uintmax_t size = 0;
    WallTime mtime;
  };

  /// Absolute; the bare command when no file was found.
  std::string path;
  bool exists = false;
  /// In bytes.
  std::uintmax_t size = 0;
  WallTime mtime;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// What runs it, when it is not a program of its own.
  std::optional<Interpreter> interpreter;
};

/// Finds the file and reads what there is to know. `planned` is what the request comes to now, and
/// is found out where it is not given. `pid` is the running child, 0 if there is none: behind
/// wrappers such as npx or `cargo run` the program shows only while it runs. Never throws.
BinaryInfo inspect(const LaunchRequest& request, const PlannedLaunch& planned, long pid);
BinaryInfo inspect(const LaunchRequest& request, long pid);

/// Lower-case hex: the build id of the ELF file at `path`, the UUID of a Mach-O file. Empty without
/// one. Reads a bounded part of it, whatever it holds.
std::string build_id_of(const std::string& path);

}  // namespace sitter
