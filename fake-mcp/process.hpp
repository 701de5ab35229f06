#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter::fake {

inline constexpr int kStdin = 0;
inline constexpr int kStdout = 1;
inline constexpr int kStderr = 2;

/// What this program needs before anything else: text passes unchanged, a closed pipe ends nothing,
/// and a killed grandchild disappears.
void prepare_process();

/// The command line in UTF-8.
std::vector<std::string> arguments(int argc, char** argv);

/// A variable of the environment in UTF-8, or nothing if it is not set.
std::optional<std::string> variable(const std::string& name);

std::int64_t process_id();
std::int64_t parent_id();

/// Ends this process at once, whatever is still to be done.
[[noreturn]] void exit_now(int code);
[[noreturn]] void wait_for_ever();

/// Writes everything, in one call of the system if it takes everything. Waits if the descriptor is
/// non-blocking and full. False if the other end is closed.
bool write_all(int descriptor, std::string_view bytes);

/// Writes one line to stderr.
void say(std::string_view line);

/// Opens a file for lines that are added at its end, even if several processes write at the same
/// time. -1 if that is not possible.
int open_to_append(const std::string& file);
void close_descriptor(int descriptor);

/// The number of a signal given as `SEGV`, `SIGSEGV` or `11`. Windows knows only those that stand
/// for an exception.
std::optional<int> signal_by_name(std::string_view name);

/// Ends this process by the signal, whatever its disposition was, without a core file. Returns if
/// the signal does not end a process.
void die_of(int signal);

/// Makes the process ignore SIGTERM, SIGINT and SIGHUP from now on; on Windows all console events.
void ignore_end_signals();

/// Ends this process with kLifeOver after this time, whatever it is doing then. Replaces an earlier
/// limit.
inline constexpr int kLifeOver = 124;
void limit_life(std::chrono::seconds limit);
void do_not_limit_life();

struct Grandchild {
  bool own_session =
      false;  ///< a daemon: own session, parent is init; on Windows without a console
  bool ignores_term = true;   ///< ignores SIGTERM, SIGINT and SIGHUP
  std::chrono::seconds life;  ///< after this time it exits
};

/// Starts a process of this executable that holds our three standard descriptors and sleeps. When
/// the function returns, the signal dispositions of the new process are set. Returns the pid, or
/// -1.
std::int64_t start_grandchild(const Grandchild& wanted);

/// Sleeps if this process was started as a grandchild, and returns otherwise. A system that can
/// fork needs no such start.
void sleep_if_grandchild(const std::vector<std::string>& arguments);

/// The path with this name in UTF-8, which Windows takes from no plain string.
std::filesystem::path path_of(std::string_view name);

/// Adds one to the count in a file, if the count is below `limit`. Returns the old count, or
/// nothing if it was not below. A missing file counts as 0.
std::optional<long long> count_up(const std::string& file, long long limit);

/// The whole file, or nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& file);

std::string working_directory();

}  // namespace sitter::fake
