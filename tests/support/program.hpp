#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/own_descriptor.hpp"
#include "support/processes.hpp"

namespace sitter::testing {

/// Both ends are closed at an exec.
struct Pipe {
  Pipe();
  OwnDescriptor read_end, write_end;
};

/// A program that the test has started, with pipes to its three standard descriptors. The program
/// can't block the test: everything is written and read while the test waits for something.
class Program {
 public:
  struct Start {
    /// A path, and arguments.
    std::vector<std::string> command;
    std::string cwd = {};
    /// Whether the working directory is removed before the program begins.
    bool cwd_is_gone = false;
    /// A signal that is pending, and blocked, when the program begins.
    std::optional<int> pending_signal = {};
    /// NAME=VALUE entries that are added to the environment of the test.
    std::vector<std::string> environment = {};
    /// Descriptors to use instead of pipes. The test still owns them.
    std::optional<int> input = {};
    std::optional<int> output = {};
    /// If false, stderr is never read, as some clients do.
    bool reads_stderr = true;
  };

  /// Stands for a line that did not come.
  static constexpr char kNothingCame[] = "[nothing more came]";

  explicit Program(const Start& start);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  /// Kills the program if it still runs.
  ~Program();

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  void write(std::string_view bytes);
  /// Closes the input after everything that was written has been taken.
  void close_input();
  void close_output();
  /// Waits until everything that was written has been taken.
  bool flush();
  /// Tries again to write what has not been taken yet, and returns how many bytes are left. Reads
  /// nothing.
  std::size_t offer();

  /// The next line of stdout. Returns kNothingCame if no line comes in time, and nothing at the end
  /// of stdout.
  std::optional<std::string> read_line();
  /// The lines of stdout that are there. Waits at most this long for the first byte.
  std::vector<std::string> lines_so_far(std::chrono::milliseconds wait);
  /// All further lines of stdout until its end.
  std::vector<std::string> read_all();
  /// Waits until stderr contains this text.
  bool shows_error(const std::string& text);
  /// The end of what came on stderr.
  const std::string& error_text() const { return error_text_; }

  /// Waits for the end of the program, and reads what it still writes. Returns the exit code, 128 +
  /// N for signal N, or -1 if the program does not end.
  int wait();
  bool has_ended();

 private:
  using Condition = std::function<bool()>;
  /// No descriptor reports the end of the program, so each wait is short.
  static constexpr std::chrono::milliseconds kRound{5};

  /// Moves bytes until the condition holds. Returns false if that takes too long.
  bool pump_until(const Condition& condition);
  void pump(std::chrono::milliseconds wait = kRound);
  void write_some();
  static void read_some(OwnDescriptor& from, std::string& to);

  pid_t pid_ = -1;
  std::optional<int> exit_code_;
  OwnDescriptor input_, output_, error_;
  std::string unwritten_;
  std::size_t written_ = 0;
  bool closes_input_ = false;
  std::string output_text_;
  std::size_t searched_ = 0;
  bool reads_stderr_;
  std::string error_text_;
};

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace sitter::testing
