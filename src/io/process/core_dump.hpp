#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/process/process_table.hpp"
#include "io/process/reaper.hpp"
#include "io/stream/event_loop.hpp"
#include "sitter/exit_status.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many functions of a stack are shown.
inline constexpr std::size_t kFramesMax = 6;

}  // namespace limits

/// The core dump of a process that has crashed.
struct CoreDump {
  /// See `ExitStatus::core`.
  std::string where;
  /// The program that prints the stack, and its arguments. Empty if there is no core dump, or no
  /// such program.
  std::vector<std::string> reader;
};

/// Whether the system writes a core dump when a process ends like this, or one behind a shell that
/// passes the end on (signal(7)).
bool leaves_core(const ExitStatus& status);

/// Looks where the core dump of a process must be that was started in `cwd` at `started`, and has
/// just ended in a way that leaves one, or that of a program behind it. A file that is older, or no
/// core dump, or that of another session, belongs to somebody else. `program` is named if the core
/// dump does not name its own. `where` is never empty.
CoreDump core_dump_of(const Reaped& ended, const std::string& program, const std::string& cwd,
                      WallTime started);

/// The same for a system that writes core dumps to `pattern` (core(5)), which on Windows is a
/// folder. `where` is empty if there is none.
CoreDump core_dump_at(const std::string& pattern, const Reaped& ended, const std::string& program,
                      const std::string& cwd, WallTime started);

/// The innermost functions in what gdb or coredumpctl prints, on one line: "inner at a.c:3 < main
/// at a.c:9". Empty if there are none.
std::string stack_in(std::string_view output);

/// Lets a debugger read a core dump, without waiting for it.
class StackReader {
 public:
  /// `on_read` is called once, from the loop, if there is a stack. The debugger ends at the latest
  /// after some seconds, and with this process.
  StackReader(EventLoop& loop, const std::vector<std::string>& reader,
              std::function<void(std::string)> on_read);
  StackReader(const StackReader&) = delete;
  StackReader& operator=(const StackReader&) = delete;
  /// Ends the debugger. Nothing is called after that. Must be on the thread that reaps.
  ~StackReader();

 private:
  struct Reading;

  std::unique_ptr<Reading> reading_;
  /// The debugger, in a process group of its own.
  std::optional<ProcessRecord> debugger_;
};

}  // namespace sitter
