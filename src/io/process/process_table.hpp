#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sitter/time.hpp"

namespace sitter {

/// One process as the system lists it. The pid and the start time together identify a process for
/// good; the system may give the same pid to another process later.
struct ProcessRecord {
  long pid = 0;
  /// 0 if it has ended, where the system does not give such a process another parent.
  long parent = 0;
  /// 0 on systems without process groups and sessions.
  long group = 0;
  long session = 0;
  /// The number of its user, or a number that only tells ours from others.
  long user = 0;
  /// The start time in a unit that depends on the system; only for comparisons.
  std::uint64_t start = 0;
  /// The process has ended, but its parent has not reaped it yet, or somebody still refers to it.
  bool zombie = false;
};

/// The file that a process was started from, whatever its name is now.
struct ImageIdentity {
  /// The path of the file when the process was started.
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// When the file was created, in nanoseconds: a file system may give the inode number of a
  /// deleted file to the next file. 0 if unknown.
  std::uint64_t born = 0;

  bool is_known() const { return inode != 0; }

  /// Compares the files without their names. If a file system does not tell when a file was
  /// created, the inode number decides.
  bool is_same_file(const ImageIdentity& other) const {
    return is_known() && device == other.device && inode == other.inode &&
           (born == other.born || born == 0 || other.born == 0);
  }
};

/// One open file or pipe; only for comparisons.
struct OpenFileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const OpenFileIdentity&, const OpenFileIdentity&) = default;
};

/// How a process is ended: it is asked to end, or it is ended. A system may have only the second.
enum class UnitSignal { terminate, kill };

enum class Delivery { delivered, gone, not_permitted };

/// Whether the system lists its processes. If it does not, the functions below find no process. The
/// same holds in a pid namespace with the /proc of another namespace, where each pid means another
/// process.
bool lists_processes();

/// Every process that this process may see. Takes less than a millisecond for a hundred processes.
std::vector<ProcessRecord> all_processes();

/// These processes and their descendants, or every process where the system does not tell the
/// children of a process. A process whose parent ends meanwhile may be missing.
std::vector<ProcessRecord> families_of(std::vector<long> pids);

/// False if no process, process group or session has this number. True if the system does not tell.
/// Costs the same however many processes there are.
bool is_number_in_use(long number);

std::optional<ProcessRecord> find_process(long pid);

/// The arguments of a process, beginning with its name. Empty if they cannot be read.
std::vector<std::string> arguments_of(long pid);

/// The same without the name.
std::vector<std::string> arguments_behind_name(long pid);

/// The command line of a process as one printable line of at most 200 bytes.
std::string command_of(long pid);

/// A process that the system does not name.
inline constexpr long kUnknownTracer = -1;

/// The process that traces this process, such as a debugger; 0 if none does, or if it is outside of
/// our pid namespace.
long tracer_of(long pid);

/// What the first thread of a process does at this moment.
struct ProcessActivity {
  /// 'R': it runs, 'S' or 'D': it sleeps, 'T': it is stopped, 't': a debugger has stopped it. 0 if
  /// the system does not tell.
  char state = 0;
  /// The function of the kernel in which it sleeps; empty if the system does not tell.
  std::string waits_in;
  /// The processor time of all its threads so far.
  Milliseconds used{};
};
ProcessActivity activity_of(long pid);

/// The entries of the environment that the process was started with which begin so: NAME=VALUE.
/// Empty if it cannot be read.
std::vector<std::string> environment_entries(long pid, const std::string& begin);

/// How many file locks a process may hold. No Linux since 2.4.25 checks this limit (setrlimit(2)),
/// but each process passes it on to all processes that it starts. Nothing on other systems, or if
/// there is no limit.
std::optional<std::uint64_t> lock_limit_of(long pid);

/// Empty if it cannot be read.
std::string working_directory_of(long pid);

/// The running file of a process, even if it was deleted or replaced since. Unknown if the process
/// has ended or we may not inspect it.
ImageIdentity image_of(long pid);

/// Whether `pid` runs the file `image`, through any link, or an older, deleted file of the same
/// path.
bool runs_image(long pid, const ImageIdentity& image);

/// The file that is now at `path`, without its name; unknown if there is none.
ImageIdentity identity_at(const std::string& path);

/// The same with its name, with all links resolved.
ImageIdentity image_at(const std::string& path);

/// Whether the system lets nobody write the files that a process runs.
bool locks_files();

/// The files that are locked so by this process: its program and its libraries.
std::vector<std::string> locked_files_of(long pid);

/// The file or pipe that is the standard input of a process.
std::optional<OpenFileIdentity> input_of(long pid);

/// Sends `signal` if `process` is still the process of that record.
Delivery send_signal(const ProcessRecord& process, UnitSignal signal);

}  // namespace sitter
