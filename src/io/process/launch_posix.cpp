#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/process/v2/default_launcher.hpp>
#include <boost/process/v2/posix/vfork_launcher.hpp>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

#include "io/process/keeper.hpp"
#include "io/process/launch.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/process_unit.hpp"
#include "io/system/posix.hpp"
#include "io/system/signals.hpp"
#include "io/system/startup.hpp"

namespace sitter {

/// Gives the launcher an execution context to prepare for the child, with nothing registered in it.
/// With the bridge's own context, the child would register every descriptor of the bridge in a new
/// epoll, in the memory that it shares with the bridge.
struct LaunchExecutor {
  boost::asio::execution_context* context;

  boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
    return *context;
  }
  template <class Function>
  void execute(Function&&) const noexcept {}
  friend bool operator==(const LaunchExecutor&, const LaunchExecutor&) noexcept = default;
};

}  // namespace sitter

BOOST_PROCESS_V2_BEGIN_NAMESPACE

/// The result of the launcher for this executor: only the pid. The library's own handle would kill
/// the child in its destructor and take the child's exit away from reap(). Not every version of the
/// library can detach it without waiting for the child.
template <>
struct basic_process<sitter::LaunchExecutor> {
  explicit basic_process(sitter::LaunchExecutor) {}
  basic_process(sitter::LaunchExecutor, int child) : pid(child) {}

  int pid = -1;
};

BOOST_PROCESS_V2_END_NAMESPACE

namespace sitter {
namespace {

namespace process = boost::process::v2;
using boost::system::error_code;

constexpr int kExecFailed = 127;

error_code last_error() { return {errno, boost::system::system_category()}; }

/// Prepares the child before its exec, and tells the bridge if that or the exec fails. The child
/// uses the memory of the bridge, which waits meanwhile (vfork(2)), so it must neither unwind the
/// stack nor end with exit(). Where a vfork is a fork, only the pipe carries the failure. The hooks
/// are templates because the launcher tests for them with arguments of other types than it calls
/// them with.
struct ChildSetup {
  const std::string& cwd;
  int input;
  int output;
  int error;
  int failure;
  pid_t parent;
  std::optional<std::uint64_t> lock_limit;
  Generation gen;
  Keeper* keeper;
  bool outlives_bridge;
  bool starts_stopped;

  template <class... Ignored>
  error_code on_exec_setup(Ignored&&...) const noexcept {
    try {
      if (prepare()) return {};
    } catch (const std::bad_alloc&) {
      errno = ENOMEM;
    }
    return last_error();
  }

  template <class... Ignored>
  void on_exec_error(Ignored&&...) const noexcept {
    const int reason = errno;
    // The pipe is empty and open, so this cannot fail.
    [[maybe_unused]] const ssize_t count = write(failure, &reason, sizeof reason);
    _exit(kExecFailed);
  }

 private:
  bool prepare() const {
    setsid();
    if (!outlives_bridge && !platform::die_with_parent(parent)) _exit(kExecFailed);
    if (lock_limit) platform::set_lock_limit(*lock_limit);
    // If the keeper is gone, it is replaced when its end is noticed.
    // What `this_process` keeps is the bridge's, whose memory this is.
    if (keeper != nullptr) {
      keeper->child_started(gen, find_process(getpid()).value_or(ProcessRecord{.pid = getpid()}));
    }
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(error, STDERR_FILENO) < 0 || chdir(cwd.c_str()) != 0) {
      return false;
    }
    // The launcher's own code leaves all descriptors below the pipe open.
    platform::close_from_at_exec(STDERR_FILENO + 1, failure);
    restore_descriptor_limit();
    reset_signals();
    return !starts_stopped || platform::stop_at_exec();
  }
};

/// Occupies closed standard descriptors, so that no new pipe gets a number that is overwritten in
/// the child.
class StandardDescriptorsTaken {
 public:
  StandardDescriptorsTaken() {
    for (FileDescriptor& place : places_) {
      place = FileDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC));
      if (place.number() > STDERR_FILENO) break;
    }
  }

 private:
  FileDescriptor places_[4];
};

std::vector<const char*> pointers(const std::vector<std::string>& words) {
  std::vector<const char*> result;
  for (const std::string& word : words) result.push_back(word.c_str());
  result.push_back(nullptr);
  return result;
}

struct Pipes {
  platform::Pipe input;
  platform::Pipe output;
  platform::Pipe error;
  /// The reason why the child could not be executed, and nothing otherwise.
  platform::Pipe failure;
};

std::optional<Pipes> open_pipes() {
  auto input = platform::open_pipe();
  auto output = platform::open_pipe();
  auto error = platform::open_pipe();
  auto failure = platform::open_pipe();
  if (!input || !output || !error || !failure) return std::nullopt;
  // A child writes little to stderr, and the system limits the total capacity of a user's pipes.
  platform::enlarge_pipe(input->write_end.number());
  platform::enlarge_pipe(output->read_end.number());
  for (int end : {input->write_end.number(), output->read_end.number(), error->read_end.number()}) {
    fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
  }
  return Pipes{std::move(*input), std::move(*output), std::move(*error), std::move(*failure)};
}

/// Waits until the child has executed its program, or cannot. Returns the reason then, else 0.
int failure_in(platform::Pipe& pipe) {
  pipe.write_end.close();
  int reason = 0;
  while (read(pipe.read_end.number(), &reason, sizeof reason) < 0 && errno == EINTR) {
  }
  return reason;
}

/// The child stops when its program is loaded. A process that is not traced any more stays stopped,
/// and any debugger can attach to it.
void leave_stopped(pid_t pid) {
  siginfo_t info{};
  // The exit of a child that somebody has killed meanwhile is left to reap().
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  platform::detach_stopped(pid);
}

struct Started {
  int pid;
  int error;
};

Started start(const LaunchPlan& plan, Pipes& pipes, Generation gen, Keeper* keeper) {
  std::vector<const char*> arguments = pointers(plan.arguments);
  const std::string mark = unit_variable(this_process(), gen);
  std::vector<const char*> environment = pointers(plan.environment);
  // The mark says that the process must not outlive the bridge.
  if (!plan.outlives_bridge) environment.insert(environment.begin(), mark.c_str());

  pid_t parent = getpid();
  const FileDescriptor& error_end = pipes.error.write_end;
  const FileDescriptor& output_end = plan.merges_outputs ? error_end : pipes.output.write_end;
  ChildSetup setup{plan.cwd,
                   pipes.input.read_end.number(),
                   output_end.number(),
                   error_end.number(),
                   pipes.failure.write_end.number(),
                   parent,
                   unit_lock_limit(this_process(), gen),
                   gen,
                   keeper,
                   plan.outlives_bridge,
                   plan.starts_stopped};
  process::posix::vfork_launcher launcher;
  launcher.env = environment.data();
  launcher.fd_whitelist.push_back(pipes.failure.write_end.number());
  boost::asio::execution_context nothing_registered;
  error_code error;
  // A handler of Asio that ran in the child would write into the bridge's own pipe.
  SignalsBlocked blocked;
  launcher(LaunchExecutor{&nothing_registered}, error, plan.program, arguments.data(), setup);
  if (launcher.pid < 0) return {-1, error.value()};
  const int failure = failure_in(pipes.failure);
  while (failure != 0 && waitpid(launcher.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (failure == 0 && plan.starts_stopped) leave_stopped(launcher.pid);
  return {launcher.pid, failure};
}

std::string interpreter_of(const std::string& program) {
  std::vector<std::string> words = shebang_words(first_line_of(program));
  return words.empty() ? std::string() : words.front();
}

bool looks_like_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(),
                      [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\r'; });
}

std::string missing(const std::string& program) {
  struct stat facts {};
  if (stat(program.c_str(), &facts) != 0) {
    return "no such file; build it, or correct the command";
  }
  std::string interpreter = interpreter_of(program);
  if (interpreter.empty()) {
    return "the file exists, but the loader that it asks for does not: it was built for another "
           "system";
  }
  if (interpreter.back() == '\r') {
    interpreter.pop_back();
    return "its first line ends with a carriage return, so the interpreter " + interpreter +
           " is not found; save the file with Unix line ends";
  }
  return "its first line names the interpreter " + interpreter +
         ", which does not exist; install it, or correct that line";
}

std::string not_permitted(const std::string& program) {
  struct stat facts {};
  if (stat(program.c_str(), &facts) != 0) {
    return "permission denied on the way to it; check the directories above";
  }
  if (S_ISDIR(facts.st_mode)) return "it is a directory; name the program in it";
  if (!S_ISREG(facts.st_mode)) return "it is not a regular file";
  if (access(program.c_str(), X_OK) != 0) {
    return "it is not executable (permission denied); run chmod +x " + program;
  }
  std::string interpreter = interpreter_of(program);
  if (!interpreter.empty() && access(interpreter.c_str(), X_OK) != 0) {
    return "its first line names the interpreter " + interpreter + ", which is not executable";
  }
  return "permission denied, although it is executable; its file system may be mounted noexec";
}

std::string bad_format(const std::string& program) {
  std::string head = first_line_of(program);
  if (head.empty()) return "the file is empty; build it again";
  if (looks_like_text(head)) {
    return "exec format error: it is a script without a #! line; write one (#!/bin/sh), or name "
           "the interpreter in the command";
  }
  return "exec format error: it is not a program for this machine";
}

std::string reason_of(int error, const std::string& program) {
  switch (error) {
    case ENOENT:
      return missing(program);
    case ENOTDIR:
      return "no such file: a part of its path is not a directory";
    case EACCES:
    case EPERM:
      return not_permitted(program);
    case ENOEXEC:
      return bad_format(program);
    case ETXTBSY:
      return "text file busy: it is being written at this moment; try again when the build is done";
    case E2BIG:
      return "its arguments and environment are too long";
    case EAGAIN:
      return "no more processes can be started now (" + std::string(std::strerror(error)) + ")";
    default:
      return std::strerror(error);
  }
}

bool is_out_of_files(int error) { return error == EMFILE || error == ENFILE; }

LaunchFailure diagnose(int error, const LaunchPlan& plan) {
  struct stat facts {};
  if (stat(plan.cwd.c_str(), &facts) != 0) {
    return {"the working directory " + plan.cwd + " is gone; make it again, or name another"};
  }
  // The interpreter or the loader of a file may be missing, too.
  const bool is_missing = error == ENOENT && stat(plan.program.c_str(), &facts) != 0;
  return {"can't start " + plan.program + ": " + reason_of(error, plan.program), error == ETXTBSY,
          is_missing, is_out_of_files(error)};
}

}  // namespace

std::variant<Launched, LaunchFailure> launch(const PlannedLaunch& planned, Generation gen,
                                             Keeper* keeper) {
  if (const auto* failure = std::get_if<LaunchFailure>(&planned)) return *failure;
  const auto& plan = std::get<LaunchPlan>(planned);

  StandardDescriptorsTaken taken;
  std::optional<Pipes> pipes = open_pipes();
  if (!pipes) {
    const int error = errno;
    return LaunchFailure{
        .reason = "no pipe could be made for the child: " + std::string(std::strerror(error)),
        .is_out_of_files = is_out_of_files(error)};
  }
  Started started = start(plan, *pipes, gen, keeper);
  if (started.error != 0) return diagnose(started.error, plan);
  return Launched{started.pid, std::move(pipes->input.write_end), std::move(pipes->output.read_end),
                  std::move(pipes->error.read_end)};
}

}  // namespace sitter
