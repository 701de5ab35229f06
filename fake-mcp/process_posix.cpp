#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "process.hpp"

namespace sitter::fake {
namespace {

constexpr std::pair<std::string_view, int> kSignals[] = {
    {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"BUS", SIGBUS},   {"FPE", SIGFPE},   {"HUP", SIGHUP},
    {"ILL", SIGILL},   {"INT", SIGINT},   {"KILL", SIGKILL}, {"PIPE", SIGPIPE}, {"QUIT", SIGQUIT},
    {"SEGV", SIGSEGV}, {"STOP", SIGSTOP}, {"SYS", SIGSYS},   {"TERM", SIGTERM}, {"TRAP", SIGTRAP},
    {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"XCPU", SIGXCPU}};

constexpr int kEndSignals[] = {SIGTERM, SIGINT, SIGHUP};

/// More descriptors than a test opens.
constexpr int kDescriptorMax = 1024;

[[noreturn]] void sleep_as_grandchild(const Grandchild& wanted, int report) {
  for (const int signal : kEndSignals) std::signal(signal, wanted.ignores_term ? SIG_IGN : SIG_DFL);
  limit_life(wanted.life);
  // The sockets of a daemon must close when the daemon ends.
  for (int descriptor = STDERR_FILENO + 1; descriptor < kDescriptorMax; ++descriptor) {
    if (descriptor != report) ::close(descriptor);
  }
  const pid_t self = ::getpid();
  write_all(report, {reinterpret_cast<const char*>(&self), sizeof self});
  ::close(report);
  wait_for_ever();
}

}  // namespace

void prepare_process() {
  std::signal(SIGPIPE, SIG_IGN);
  // A killed grandchild must disappear without leaving a zombie.
  std::signal(SIGCHLD, SIG_IGN);
}

std::vector<std::string> arguments(int argc, char** argv) { return {argv, argv + argc}; }

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (!value) return std::nullopt;
  return value;
}

std::int64_t process_id() { return ::getpid(); }
std::int64_t parent_id() { return ::getppid(); }

void exit_now(int code) { ::_exit(code); }

void wait_for_ever() {
  while (true) ::pause();
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd writable{descriptor, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

int open_to_append(const std::string& file) {
  return ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

void close_descriptor(int descriptor) { ::close(descriptor); }

std::optional<int> signal_by_name(std::string_view name) {
  int number = 0;
  const char* end = name.data() + name.size();
  if (std::from_chars(name.data(), end, number).ptr == end && number > 0 && number < NSIG) {
    return number;
  }
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const auto& [known, signal] : kSignals) {
    if (known == name) return signal;
  }
  return std::nullopt;
}

void die_of(int signal) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(signal);
}

void ignore_end_signals() {
  for (const int signal : kEndSignals) std::signal(signal, SIG_IGN);
}

void limit_life(std::chrono::seconds limit) {
  std::signal(SIGALRM, [](int) { ::_exit(kLifeOver); });
  ::alarm(static_cast<unsigned>(limit.count()));
}

void do_not_limit_life() { ::alarm(0); }

std::int64_t start_grandchild(const Grandchild& wanted) {
  int report[2];
  if (::pipe(report) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(report[0]);
    if (wanted.own_session && (::setsid() == -1 || ::fork() != 0)) ::_exit(0);
    sleep_as_grandchild(wanted, report[1]);
  }
  ::close(report[1]);
  // The grandchild itself reports its pid after it has set its signal dispositions, so a test that
  // reads the pid can send a signal at once.
  pid_t pid = -1;
  while (::read(report[0], &pid, sizeof pid) == -1 && errno == EINTR) {
  }
  ::close(report[0]);
  if (child > 0 && wanted.own_session) ::waitpid(child, nullptr, 0);
  return pid;
}

void sleep_if_grandchild(const std::vector<std::string>&) {}

}  // namespace sitter::fake
