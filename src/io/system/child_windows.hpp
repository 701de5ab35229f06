#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/system/windows.hpp"

namespace sitter::windows {

/// A pipe between this process and a child. No child inherits our end. The end of the child is for
/// plain operations, because programs do not expect anything else, and a child inherits it if it is
/// named in its start.
struct ChildPipe {
  Handle ours;
  Handle theirs;
};

/// Our end is for overlapped operations, except for that of `fast_output`: a thread that waits for
/// a plain read gets the bytes with fewer calls of the system.
enum class ChildPipeKind { input, output, fast_output };

/// Nothing if the system refuses, with the reason in GetLastError.
std::optional<ChildPipe> open_child_pipe(ChildPipeKind kind);

/// Our end of such a pipe, with one operation after another.
class PipeEnd {
 public:
  explicit PipeEnd(Handle pipe);
  PipeEnd(const PipeEnd&) = delete;
  PipeEnd& operator=(const PipeEnd&) = delete;
  ~PipeEnd() { close(); }

  /// False from the end on.
  bool is_open() const { return pipe_.is_open(); }
  bool is_busy() const { return is_busy_; }
  /// Set when the operation that is under way has ended.
  HANDLE done() const { return done_.get(); }

  // These do nothing while an operation is under way, and after the end.
  void begin_read();
  /// Only the front of a long text is written.
  void begin_write(std::string_view text);

  /// The bytes that were moved. Empty while the operation is under way, and at the end.
  std::string_view moved();

  /// Adds what has come to the text, and reads on.
  void read_on(std::string& text);

  void close();

 private:
  template <class Call>
  void begin(Call call);

  Handle pipe_;
  Handle done_;
  OVERLAPPED operation_{};
  bool is_busy_ = false;
  std::array<char, 65536> bytes_;
};

/// NUL, for a child.
Handle open_nothing();

struct ChildStart {
  /// The path of the program, and its words, of which the first is the program.
  std::string program;
  std::vector<std::string> words;
  /// Empty: the working directory of this process.
  std::string cwd = {};
  /// NAME=VALUE entries. Nothing: the environment of this process.
  std::optional<std::vector<std::string>> environment = {};
  HANDLE input = nullptr;
  HANDLE output = nullptr;
  HANDLE error = nullptr;
  /// Whether the child and all its descendants end when the last handle of the job is closed
  /// (JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE), which is also when this process ends.
  bool ends_with_job = true;
  /// Whether the child is stopped before its first instruction.
  bool is_suspended = false;
};

/// A child, which all its descendants share a job with.
struct StartedChild {
  Handle process;
  Handle job;
  long pid = 0;
};

/// Why there is no child.
struct StartFailure {
  /// The system's error. ERROR_SUCCESS: the words cannot be passed.
  DWORD code = ERROR_SUCCESS;
  /// A clause.
  std::string reason;
};

/// Starts a program without a console window, as the leader of a process group. Batch files are run
/// by cmd.exe. The child inherits its standard streams and no other handle, and is in its job from
/// its first moment on.
std::variant<StartedChild, StartFailure> start_child(const ChildStart& start);

/// What happens to the processes that are left when the last handle of the job is closed.
void set_ends_with_job(HANDLE job, bool ends);

}  // namespace sitter::windows
