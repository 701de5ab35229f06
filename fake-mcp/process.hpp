#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter::fake {

/// Writes everything, in one write(2) where the system takes it, and waits if the descriptor is
/// non-blocking and full. False if the other end is gone.
bool write_all(int descriptor, std::string_view bytes);

/// One line on stderr.
void say(std::string_view line);

/// The number of a signal given as `SEGV`, `SIGSEGV` or `11`.
std::optional<int> signal_by_name(std::string_view name);

/// Ends this process by the signal, whatever its disposition was, without a core file. Comes back
/// from signals that do not end a process.
void die_of(int signal);

/// From now on the ordinary ways to ask a process to end have no effect.
void ignore_end_signals();

/// Ends this process with kLifeOver after that time, whatever it does then.
inline constexpr int kLifeOver = 124;
void limit_life(std::chrono::seconds limit);

struct Grandchild {
  bool own_session = false;   ///< a daemon: own session, parent is init
  bool ignores_term = true;   ///< SIGTERM, SIGINT and SIGHUP do nothing
  std::chrono::seconds life;  ///< it ends by itself then
};

/// Starts a process of this executable that holds our three descriptors and sleeps. Its signal
/// dispositions are set when this returns. Returns its pid, or -1.
pid_t start_grandchild(const Grandchild& wanted);

/// Adds one to the count that a file holds, if it is below `limit`. The count before, or nothing if
/// it was not below. A missing file counts as 0.
std::optional<long long> count_up(const std::string& file, long long limit);

/// The whole file, or nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& file);

std::string working_directory();

}  // namespace sitter::fake
