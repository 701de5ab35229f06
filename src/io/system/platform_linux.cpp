#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "io/system/posix.hpp"
#include "io/system/user_folders.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

const UserFolders kUserFolders = kLinuxFolders;

}  // namespace sitter

namespace sitter::platform {
namespace {

// What is in the pipe stays in the second cache of the processor, together with a copy.
constexpr int kPipeSize = 1 << 18;
constexpr unsigned kCloseRangeCloexec = 1U << 2;

// For kernels and sandboxes without close_range.
template <class Action>
void for_each_descriptor(int first, Action action) {
  rlimit limit{};
  constexpr rlim_t kMax = 65536;
  rlim_t end = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min(limit.rlim_cur, kMax) : kMax;
  for (int descriptor = first; descriptor < static_cast<int>(end); ++descriptor) {
    action(descriptor);
  }
}

}  // namespace

const int kTcpSilenceOption = TCP_KEEPIDLE;

std::optional<Pipe> open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void enlarge_pipe(int descriptor) { fcntl(descriptor, F_SETPIPE_SZ, kPipeSize); }

void close_from_at_exec(int first, int) {
  if (syscall(SYS_close_range, first, ~0U, kCloseRangeCloexec) == 0) return;
  for_each_descriptor(first, [](int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); });
}

void close_from(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  for_each_descriptor(first, [](int descriptor) { ::close(descriptor); });
}

bool die_with_parent(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The system sends the signal only if the parent ends after the call.
  return getppid() == parent;
}

bool stop_at_exec() { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }

void detach_stopped(int pid) {
  ptrace(PTRACE_DETACH, pid, nullptr, reinterpret_cast<void*>(static_cast<long>(SIGSTOP)));
}

bool become_subreaper() { return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void set_lock_limit(std::uint64_t limit) {
  rlimit locks{};
  if (getrlimit(RLIMIT_LOCKS, &locks) != 0) return;
  locks.rlim_cur = limit;
  // If the hard limit is lower, the environment variable is the only mark.
  setrlimit(RLIMIT_LOCKS, &locks);
}

// A sender outside of our pid namespace also has the pid 0, so the pid does not identify the
// system.
bool is_from_system(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

FileDescriptor exit_of(long pid) {
  return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool is_own_peer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

timespec written_at(const struct stat& status) { return status.st_mtim; }

timespec changed_at(const struct stat& status) { return status.st_ctim; }

std::string temporary_folder_of_user() { return {}; }

std::vector<std::string> lookup_command() { return {"getent", "ahosts"}; }

long own_pid() { return getpid(); }

bool has_own_process(long pid) { return kill(static_cast<pid_t>(pid), 0) == 0; }

std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

void set_process_title(const char* title) { prctl(PR_SET_NAME, title); }

// By default, the C library keeps blocks of up to 32 MiB once it has freed a block of that size. A
// block with its own pages returns to the system whatever was allocated after it; other blocks must
// wait until the blocks after them are free.
void give_back_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 256 * limits::kKiB);
  mallopt(M_TRIM_THRESHOLD, limits::kMiB);
}

void prefer_huge_pages(void* memory, std::size_t size) { madvise(memory, size, MADV_HUGEPAGE); }

// These pages are never written, so nothing of them is lost (madvise(2)).
void give_back_program() {
  const auto give_back = [](dl_phdr_info* program, std::size_t, void*) {
    const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = program->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
      const ElfW(Addr) address = program->dlpi_addr + part.p_vaddr;
      const ElfW(Addr) begin = address / page * page;
      madvise(reinterpret_cast<void*>(begin), address + part.p_memsz - begin, MADV_DONTNEED);
    }
    return 1;  // the first is the program itself
  };
  dl_iterate_phdr(give_back, nullptr);
}

}  // namespace sitter::platform
