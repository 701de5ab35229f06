#include "support/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "support/texts.hpp"

namespace sitter::testing {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 18;
/// The bound for the text that is kept of stderr, which may be endless.
constexpr std::size_t kErrorTextMax = std::size_t{1} << 20;
constexpr int kExecFailed = 126;

/// The two ends of a pipe have separate flags, so the program does not see this change.
void make_non_blocking(const OwnDescriptor& descriptor) {
  fcntl(descriptor.number(), F_SETFL, fcntl(descriptor.number(), F_GETFL) | O_NONBLOCK);
}

/// The signal stays pending, also after an exec (execve(2)).
void send_to_oneself(int number) {
  std::signal(number, SIG_DFL);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, number);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  raise(number);
}

[[noreturn]] void become(const Program::Start& start, const char* const* command, int input,
                         int output, int error) {
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  std::signal(SIGPIPE, SIG_DFL);
  // A test may ask for a core dump.
  rlimit no_core{};
  getrlimit(RLIMIT_CORE, &no_core);
  no_core.rlim_cur = 0;
  setrlimit(RLIMIT_CORE, &no_core);
  if (!start.cwd.empty() && chdir(start.cwd.c_str()) != 0) _exit(kExecFailed);
  if (start.cwd_is_gone && rmdir(start.cwd.c_str()) != 0) _exit(kExecFailed);
  if (start.pending_signal) send_to_oneself(*start.pending_signal);
  // One test must not know what another has shown of the same server.
  putenv(const_cast<char*>("XDG_CACHE_HOME=/dev/null"));
  for (const std::string& entry : start.environment) putenv(const_cast<char*>(entry.c_str()));
  execv(command[0], const_cast<char* const*>(command));
  _exit(kExecFailed);
}

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe could be made");
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  read_end = OwnDescriptor(ends[0]);
  write_end = OwnDescriptor(ends[1]);
}

Program::Program(const Start& start) : reads_stderr_(start.reads_stderr) {
  // A write to a program that has ended must fail, and not end the test.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe input, output, error;
  std::vector<const char*> command;
  for (const std::string& word : start.command) command.push_back(word.c_str());
  command.push_back(nullptr);

  pid_ = fork();
  if (pid_ == 0) {
    become(start, command.data(), start.input.value_or(input.read_end.number()),
           start.output.value_or(output.write_end.number()), error.write_end.number());
  }
  if (pid_ < 0) throw std::runtime_error("no process could be started");
  if (!start.input) input_ = std::move(input.write_end);
  if (!start.output) output_ = std::move(output.read_end);
  error_ = std::move(error.read_end);
  for (const OwnDescriptor* end : {&input_, &output_, &error_}) {
    if (end->is_open()) make_non_blocking(*end);
  }
}

Program::~Program() {
  if (has_ended()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Program::signal(int number) const { kill(pid_, number); }

void Program::write(std::string_view bytes) {
  unwritten_ += bytes;
  write_some();
}

void Program::close_input() {
  closes_input_ = true;
  write_some();
}

void Program::close_output() { output_.close(); }

bool Program::flush() {
  return pump_until([this] { return unwritten_.empty(); });
}

std::size_t Program::offer() {
  // A write wakes the reader of a pipe even if the pipe takes no bytes. So the program writes only
  // if there is room.
  pollfd writable{input_.number(), POLLOUT, 0};
  if (poll(&writable, 1, 0) > 0) write_some();
  return unwritten_.size() - written_;
}

std::optional<std::string> Program::read_line() {
  std::size_t end = std::string::npos;
  const bool came = pump_until([&] {
    end = output_text_.find('\n', searched_);
    searched_ = end == std::string::npos ? output_text_.size() : end;
    return end != std::string::npos || !output_.is_open();
  });
  if (!came) return kNothingCame;
  if (end == std::string::npos) return std::nullopt;
  std::string line = output_text_.substr(0, end);
  output_text_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

std::vector<std::string> Program::lines_so_far(std::chrono::milliseconds wait) {
  pump(wait);
  const std::size_t end = output_text_.rfind('\n') + 1;
  std::vector<std::string> lines = lines_of(std::string_view(output_text_).substr(0, end));
  output_text_.erase(0, end);
  searched_ = 0;
  return lines;
}

std::vector<std::string> Program::read_all() {
  pump_until([this] { return !output_.is_open(); });
  searched_ = 0;
  note_text(output_text_);
  return lines_of(std::exchange(output_text_, {}));
}

bool Program::shows_error(const std::string& text) {
  return pump_until([&] { return error_text_.find(text) != std::string::npos; });
}

int Program::wait() {
  pump_until([this] { return has_ended(); });
  // The last words of the program may still be in the pipes.
  pump();
  for (const std::string& line : lines_of(error_text_)) note_text(line);
  return exit_code_.value_or(-1);
}

bool Program::has_ended() {
  if (exit_code_) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

bool Program::pump_until(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    pump();
  }
  return true;
}

void Program::pump(std::chrono::milliseconds wait) {
  std::vector<pollfd> polled;
  if (input_.is_open() && !unwritten_.empty()) polled.push_back({input_.number(), POLLOUT, 0});
  if (output_.is_open()) polled.push_back({output_.number(), POLLIN, 0});
  if (error_.is_open() && reads_stderr_) polled.push_back({error_.number(), POLLIN, 0});
  poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
  write_some();
  read_some(output_, output_text_);
  if (!reads_stderr_) return;
  read_some(error_, error_text_);
  if (error_text_.size() > kErrorTextMax) error_text_.erase(0, error_text_.size() - kErrorTextMax);
}

void Program::write_some() {
  while (input_.is_open() && written_ < unwritten_.size()) {
    const ssize_t count =
        ::write(input_.number(), unwritten_.data() + written_, unwritten_.size() - written_);
    if (count < 0 && errno == EAGAIN) return;
    // Nobody will read the rest.
    if (count < 0 && errno != EINTR) input_.close();
    if (count > 0) written_ += static_cast<std::size_t>(count);
  }
  unwritten_.clear();
  written_ = 0;
  if (closes_input_) input_.close();
}

void Program::read_some(OwnDescriptor& from, std::string& to) {
  if (!from.is_open()) return;
  const std::size_t size = to.size();
  to.resize(size + kReadSize);
  const ssize_t count = ::read(from.number(), to.data() + size, kReadSize);
  const int error = errno;
  to.resize(size + static_cast<std::size_t>(count > 0 ? count : 0));
  if (count == 0 || (count < 0 && error != EAGAIN && error != EINTR)) from.close();
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace sitter::testing
