#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sitter {

/// One process as the system lists it. Pid and start together name a process for good; a pid alone
/// may be given to another one.
struct ProcessRecord {
  long pid = 0;
  long parent = 0;
  long group = 0;
  long session = 0;
  long user = 0;
  /// In a unit of the system's own; only good for comparing.
  std::uint64_t start = 0;
  /// Ended, but not yet reaped by its parent.
  bool zombie = false;
};

/// The file that a process was started from, whatever its name is now.
struct ImageIdentity {
  /// Where it was when it was started.
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// When the file was made, in nanoseconds: a file system gives the number of a deleted file to
  /// the next one. 0 where it is unknown.
  std::uint64_t born = 0;

  bool is_known() const { return inode != 0; }

  /// Whatever it is called. A file system that does not say when a file was made is believed.
  bool is_same_file(const ImageIdentity& other) const {
    return is_known() && device == other.device && inode == other.inode &&
           (born == other.born || born == 0 || other.born == 0);
  }
};

/// One open file or pipe; only good for comparing.
struct OpenFileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const OpenFileIdentity&, const OpenFileIdentity&) = default;
};

enum class Delivery { delivered, gone, not_permitted };

/// Whether the system says which processes there are. Without that, or in a pid namespace with the
/// /proc of another one, where each number means somebody else, nothing below finds a process.
bool lists_processes();

/// Every process that this one may see. Takes less than a millisecond for a hundred of them.
std::vector<ProcessRecord> all_processes();

std::optional<ProcessRecord> find_process(long pid);

/// The arguments of a process, beginning with its name. Empty if they can't be read.
std::vector<std::string> arguments_of(long pid);

/// The command line of a process on one printable line, at most 200 bytes.
std::string command_of(long pid);

/// A variable of the environment that a process was started with. Nothing if it can't be read.
std::optional<std::string> environment_value(long pid, const std::string& name);

/// How many file locks a process may hold: a limit that no Linux since 2.4.25 looks at
/// (setrlimit(2)), but that each process hands on to all that it starts. Nothing on other systems,
/// or where it is unlimited.
std::optional<std::uint64_t> lock_limit_of(long pid);

/// Empty if it can't be read.
std::string working_directory_of(long pid);

/// The running file of a process, also when it was deleted or replaced since. Unknown if the
/// process has ended or is not ours to look at.
ImageIdentity image_of(long pid);

/// True if `pid` runs the file `image`, through whatever link, or an older file that was deleted
/// from the same path.
bool runs_image(long pid, const ImageIdentity& image);

/// The file at `path` now, without its name; unknown if there is none.
ImageIdentity identity_at(const std::string& path);

/// The same with its name, all links resolved.
ImageIdentity image_at(const std::string& path);

/// What a process has as its standard input.
std::optional<OpenFileIdentity> input_of(long pid);

/// Sends `signal` if `process` still is the one of that record.
Delivery send_signal(const ProcessRecord& process, int signal);

}  // namespace sitter
