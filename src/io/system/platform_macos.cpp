#include <fcntl.h>
#include <mach-o/dyld.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/event.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>

#include "io/system/posix.hpp"
#include "io/system/user_folders.hpp"

// <sys/ptrace.h> declares this on a Mac, but it is missing in the headers of cross compilers.
extern "C" int ptrace(int request, pid_t pid, char* address, int data);

namespace sitter {

const UserFolders kUserFolders = kMacosFolders;

}  // namespace sitter

namespace sitter::platform {
namespace {

template <class Action>
void for_each_descriptor(int first, Action action) {
  // A limit may be infinite, and each number costs a call.
  constexpr int kMax = 65536;
  int end = std::min(getdtablesize(), kMax);
  for (int descriptor = first; descriptor < end; ++descriptor) action(descriptor);
}

/// May be used in a signal handler.
bool has_terminal() {
  const int terminal = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

const bool kHadTerminal = has_terminal();

}  // namespace

const int kTcpSilenceOption = TCP_KEEPALIVE;

std::optional<Pipe> open_pipe() {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  // macOS has no pipe2. No other thread forks between these calls.
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// The system enlarges a pipe when needed.
void enlarge_pipe(int) {}

// The launcher of Boost.Process opens a folder before the exec. That needs a descriptor below the
// limit that the child was given, and the watch of files may have all of these.
void close_from_at_exec(int first, int kept) {
  for_each_descriptor(first, [kept](int descriptor) {
    if (descriptor != kept) ::close(descriptor);
  });
  if (kept != kNoDescriptor) fcntl(kept, F_SETFD, FD_CLOEXEC);
}

void close_from(int first) {
  for_each_descriptor(first, [](int descriptor) { ::close(descriptor); });
}

// macOS has no parent-death signal, so only the keeper kills the processes.
bool die_with_parent(int parent) { return getppid() == parent; }

constexpr int kTraceMe = 0;  // PT_TRACE_ME
constexpr int kDetach = 11;  // PT_DETACH

bool stop_at_exec() { return ptrace(kTraceMe, 0, nullptr, 0) == 0; }

void detach_stopped(int pid) {
  kill(pid, SIGSTOP);
  ptrace(kDetach, pid, nullptr, 0);
}

bool become_subreaper() { return false; }

void set_lock_limit(std::uint64_t) {}

// A signal of the system carries the number of the process that caused it, such as that of the
// window whose terminal is gone. Such a terminal can't be opened any more.
bool is_from_system(const siginfo_t&) { return kHadTerminal && !has_terminal(); }

FileDescriptor exit_of(long pid) {
  FileDescriptor queue(kqueue());
  struct kevent exit {};
  EV_SET(&exit, static_cast<uintptr_t>(pid), EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, nullptr);
  if (queue.is_open() && kevent(queue.number(), &exit, 1, nullptr, 0, nullptr) != 0) queue.close();
  return queue;
}

bool is_own_peer(int socket) {
  uid_t user = 0;
  gid_t group = 0;
  return getpeereid(socket, &user, &group) == 0 && user == geteuid();
}

timespec written_at(const struct stat& status) { return status.st_mtimespec; }

timespec changed_at(const struct stat& status) { return status.st_ctimespec; }

std::string temporary_folder_of_user() {
  char path[PATH_MAX];
  // The size includes the NUL.
  const std::size_t size = confstr(_CS_DARWIN_USER_TEMP_DIR, path, sizeof path);
  if (size == 0 || size > sizeof path) return {};
  std::string folder(path, size - 1);
  if (folder.ends_with('/')) folder.pop_back();
  return folder;
}

std::vector<std::string> lookup_command() { return {"dscacheutil", "-q", "host", "-a", "name"}; }

long own_pid() { return getpid(); }

bool has_own_process(long pid) { return kill(static_cast<pid_t>(pid), 0) == 0; }

std::string own_program() {
  // The size of the path is asked for first (dyld(3)).
  std::uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
  // The path may lead through links (dyld(3)).
  char real[PATH_MAX];
  return realpath(path.c_str(), real) != nullptr ? real : std::string(path.c_str());
}

void set_process_title(const char* title) { pthread_setname_np(title); }

// The system's allocator does this by itself.
void give_back_freed_memory() {}

// The system decides by itself.
void prefer_huge_pages(void* /*memory*/, std::size_t /*size*/) {}

// The system takes code back by itself when memory is short.
void give_back_program() {}

}  // namespace sitter::platform
