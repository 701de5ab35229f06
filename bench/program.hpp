#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Started programs, and what the system says about a process.
namespace sitter::bench {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;
using Millis = std::chrono::duration<double, std::milli>;
using Words = std::vector<std::string>;

/// An answer of a server without the text of its result.
constexpr std::string_view kAnswer =
    R"json({"jsonrpc":"2.0","id":100000,"result":{"content":[{"type":"text","text":""}]}})json"
    "\n";
/// All ids have the same length, so that all lines have the same size.
constexpr std::size_t kFirstId = 100'000;
constexpr std::size_t kMessageBytes = 200;
/// How much text makes an answer `kMessageBytes` long, including its line end.
constexpr std::size_t kSmallResult = kMessageBytes - kAnswer.size();

extern const std::string_view kInitialize;
extern const std::string_view kInitialized;

/// Ends the benchmark, since a figure would be wrong.
[[noreturn]] void die(std::string_view what);

/// A call of so many bytes including its line end, with the members in the order of the official
/// clients.
std::string call_line(std::size_t id, std::size_t bytes = kMessageBytes);
/// The only argument of such a call.
std::string call_text(std::size_t bytes = kMessageBytes);

/// A started program, with its standard streams.
struct Started {
  pid_t pid = 0;
  int input = -1;
  int output = -1;
  int errors = -1;
};
enum class Errors { inherited, read };
Started start_program(const Words& command, Errors errors);

/// A way to make calls.
class Caller {
 public:
  Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  virtual ~Caller() = default;

  /// Makes so many calls at once. Returns the number of bytes of all answers.
  virtual std::size_t call(std::string_view lines, std::size_t count) = 0;
  /// The process that spends CPU time on the calls.
  virtual pid_t pid() const = 0;
};

/// A running program with two pipes, whose session is opened as an MCP client would open it.
class Program : public Caller {
 public:
  explicit Program(const Words& command);
  ~Program() override;

  std::size_t call(std::string_view lines, std::size_t count) override;
  pid_t pid() const override { return started_.pid; }

  void write_all(std::string_view bytes);
  /// Reads this many lines; nothing may follow the last one. Returns the number of bytes.
  std::size_t read_answers(std::size_t lines);
  /// Whether there is something to read before the time is over, or the program has ended.
  bool speaks_within(std::chrono::milliseconds wait);
  /// Returns the bytes that one read gets. They are valid until the next read.
  std::string_view read_some();

 private:
  Started started_;
  std::vector<char> buffer_ = std::vector<char>(256 * 1024);
};

/// Starts a command for each call and reads its outputs to their end.
class BareStarts : public Caller {
 public:
  explicit BareStarts(Words command) : command_(std::move(command)) {}

  /// Returns as many bytes as if the output of the commands were in answers.
  std::size_t call(std::string_view lines, std::size_t count) override;
  pid_t pid() const override;

 private:
  Words command_;
};

/// A field of /proc/PID/status that is given in kB, converted to MB of 1024 kB: the sum over this
/// process and all below it but fake-mcp.
double memory_of(pid_t pid, std::string_view field);
/// How many pages the system had to give to a process so far without reading them from a file.
double page_faults_of(pid_t pid);
/// The CPU time of all threads of a process.
Micros cpu_time_of(pid_t pid);

}  // namespace sitter::bench
