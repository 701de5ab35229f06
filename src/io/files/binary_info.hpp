#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/process/launch_plan.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The file that is really under development, and its state on disk.
struct BinaryInfo {
  struct File {
    std::string path;
    std::uintmax_t size = 0;
    WallTime mtime;
    std::uint64_t inode = 0;

    friend bool operator==(const File&, const File&) = default;
  };

  /// An absolute path, or the bare command if no file was found.
  std::string path;
  bool exists = false;
  std::uintmax_t size = 0;
  WallTime mtime;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// The program that runs the file, if the file is not itself a program.
  std::optional<File> interpreter;
  /// What the running child shows behind a script of a shell, which mostly starts another program.
  std::optional<File> behind;
  /// An interpreter runs what is behind the script.
  bool is_behind_interpreted = false;
  /// The file behind the script has taken the place of the one that runs.
  bool is_behind_replaced = false;
  /// With which a wrapper runs the program, if it was looked for behind the wrapper.
  std::vector<std::string> arguments;
};

/// Finds the file and reads its state. `planned` is the launch plan of the request; the overload
/// without it makes the plan itself. `pid` is the running child, or 0 if there is none: behind
/// wrappers such as npx or `cargo run`, only a running process shows the program. Never throws.
BinaryInfo inspect(const LaunchRequest& request, const PlannedLaunch& planned, long pid);
BinaryInfo inspect(const LaunchRequest& request, long pid);

/// When the file was written last. Nothing if there is none.
std::optional<WallTime> modified_at(const std::string& path);

/// The build id of the ELF file at `path`, or the UUID of a Mach-O file, in lower-case hex. Empty
/// if there is none. Reads only a bounded part of the file, whatever the file contains.
std::string build_id_of(const std::string& path);

/// A fingerprint of the files of a command: the program, the files that its arguments name, and the
/// env file, each with its time, size and inode number. Two fingerprints differ if one of the files
/// was changed, created or removed. `planned` is the launch plan of the request.
std::string command_files(const LaunchRequest& request, const PlannedLaunch& planned);

}  // namespace sitter
