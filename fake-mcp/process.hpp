#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter::fake {

/// Writes everything, in one write(2) if the system takes it. Waits if the descriptor is
/// non-blocking and full. False if the other end is closed.
bool write_all(int descriptor, std::string_view bytes);

/// Writes one line to stderr.
void say(std::string_view line);

/// The number of a signal given as `SEGV`, `SIGSEGV` or `11`.
std::optional<int> signal_by_name(std::string_view name);

/// Ends this process by the signal, whatever its disposition was, without a core file. Returns if
/// the signal does not end a process.
void die_of(int signal);

/// Makes the process ignore SIGTERM, SIGINT and SIGHUP from now on.
void ignore_end_signals();

/// Ends this process with kLifeOver after this time, whatever it is doing then.
inline constexpr int kLifeOver = 124;
void limit_life(std::chrono::seconds limit);

struct Grandchild {
  bool own_session = false;   ///< a daemon: own session, parent is init
  bool ignores_term = true;   ///< ignores SIGTERM, SIGINT and SIGHUP
  std::chrono::seconds life;  ///< after this time it exits
};

/// Starts a process of this executable that holds our three standard descriptors and sleeps. When
/// the function returns, the signal dispositions of the new process are set. Returns the pid, or
/// -1.
pid_t start_grandchild(const Grandchild& wanted);

/// Adds one to the count in a file, if the count is below `limit`. Returns the old count, or
/// nothing if it was not below. A missing file counts as 0.
std::optional<long long> count_up(const std::string& file, long long limit);

/// The whole file, or nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& file);

std::string working_directory();

}  // namespace sitter::fake
