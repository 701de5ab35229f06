#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What the benchmarks of built programs share: a session with a program, and what the system says
/// about a process.
namespace sitter::bench {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;
using Millis = std::chrono::duration<double, std::milli>;

constexpr std::size_t kMessageBytes = 200;
/// All ids have the same length, so that all lines have the same size.
constexpr std::size_t kFirstId = 100'000;

/// Ends the benchmark, since a figure would be wrong.
[[noreturn]] void die(std::string_view what);

extern const std::string_view kInitialize;
extern const std::string_view kInitialized;

/// A call of `kMessageBytes` including its line end, with the members in the order of the official
/// clients.
std::string call_line(std::size_t id);
/// The calls with the ids from `kFirstId` on.
std::vector<std::string> call_lines(std::size_t count);
/// How much text makes an answer of fake-mcp `kMessageBytes` long, including its line end.
std::size_t small_result();

/// A started program, with those of its standard streams that were asked for.
struct Started {
  pid_t pid = 0;
  int input = -1;
  int output = -1;
  int errors = -1;
};
enum class Streams { input_and_output, errors, all };
Started start_program(const std::vector<std::string>& command, Streams streams);

/// A running program with two pipes, whose session is opened as an MCP client would open it.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  pid_t pid() const { return started_.pid; }

  void write_all(std::string_view bytes);
  /// Reads this many lines; nothing may follow the last one. Returns the number of bytes.
  std::size_t read_answers(std::size_t lines);
  /// Whether there is something to read before the time is over, or the program has ended.
  bool speaks_within(std::chrono::milliseconds wait);
  /// Returns the bytes that one read gets. They are valid until the next read.
  std::string_view read_some();
  std::size_t call(std::string_view line);
  /// Completes the opening, and then makes calls, so that no measured call does anything for the
  /// first time.
  void warm_up(std::size_t calls);

 private:
  Started started_;
  std::vector<char> buffer_ = std::vector<char>(256 * 1024);
};

/// A field of /proc/PID/status that is given in kB, converted to MB of 1024 kB.
double memory_of(pid_t pid, std::string_view field);
/// The CPU time of all threads of a process.
Micros cpu_time_of(pid_t pid);

/// Pins this process, and all processes that it starts from now on, to this core.
void stay_on(int core);
int last_core();

double quantile(std::vector<double> values, double part);
double median(const std::vector<double>& values);

}  // namespace sitter::bench
