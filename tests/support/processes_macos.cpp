// The facts come from sysctl(3) and from libproc.h and sys/proc_info.h, which have no man pages.
#include <libproc.h>
#include <sys/resource.h>
#include <sys/sysctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "support/processes.hpp"

namespace sitter::testing {
namespace {

/// Throws if the system does not say: a test must not take that for processes that have ended.
std::vector<kinfo_proc> processes(int what, int argument) {
  int name[] = {CTL_KERN, KERN_PROC, what, argument};
  std::size_t size = 0;
  std::vector<kinfo_proc> found;
  do {
    if (sysctl(name, 4, nullptr, &size, nullptr, 0) != 0) break;
    // If more processes than this start before they are listed, the system says ENOMEM.
    constexpr std::size_t kMore = 256;
    found.resize(size / sizeof(kinfo_proc) + kMore);
    size = found.size() * sizeof(kinfo_proc);
    if (sysctl(name, 4, found.data(), &size, nullptr, 0) == 0) {
      found.resize(size / sizeof(kinfo_proc));
      return found;
    }
  } while (errno == ENOMEM);
  throw std::system_error(errno, std::generic_category(), "the processes cannot be listed");
}

/// A number, the path of the program, its arguments and its environment. Each text ends with a NUL.
std::string start_text_of(long pid) {
  int name[] = {CTL_KERN, KERN_PROCARGS2, static_cast<int>(pid)};
  std::size_t size = 0;
  if (sysctl(name, 3, nullptr, &size, nullptr, 0) != 0) return {};
  std::string text(size, '\0');
  if (sysctl(name, 3, text.data(), &size, nullptr, 0) != 0) return {};
  text.resize(size);
  return text;
}

/// What `proc_pidinfo` tells; nothing if the process is gone.
template <class Facts>
std::optional<Facts> facts_of(long pid, int flavour, std::uint64_t argument = 0) {
  Facts facts{};
  const int size = proc_pidinfo(static_cast<int>(pid), flavour, argument, &facts, sizeof facts);
  if (size != static_cast<int>(sizeof facts)) return std::nullopt;
  return facts;
}

std::optional<rusage_info_v4> usage_of(long pid) {
  rusage_info_v4 usage{};
  auto* const place = reinterpret_cast<rusage_info_t*>(&usage);
  if (proc_pid_rusage(static_cast<int>(pid), RUSAGE_INFO_V4, place) != 0) return std::nullopt;
  return usage;
}

}  // namespace

bool is_alive(long pid) {
  const std::vector<kinfo_proc> found = processes(KERN_PROC_PID, static_cast<int>(pid));
  return !found.empty() && found.front().kp_proc.p_stat != SZOMB;
}

std::vector<long> processes_with(const std::string& environment_entry) {
  const std::string wanted = '\0' + environment_entry + '\0';
  std::vector<long> pids;
  for (const kinfo_proc& process : processes(KERN_PROC_ALL, 0)) {
    const long pid = process.kp_proc.p_pid;
    if (start_text_of(pid).find(wanted) != std::string::npos && is_alive(pid)) pids.push_back(pid);
  }
  return pids;
}

std::string command_line_of(long pid) {
  const std::string text = start_text_of(pid);
  int left = 0;
  if (text.size() < sizeof left) return {};
  std::memcpy(&left, text.data(), sizeof left);
  std::size_t at = text.find_first_not_of('\0', text.find('\0', sizeof left));
  std::string line;
  for (; left > 0 && at < text.size(); --left) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    line += text.substr(at, end - at) + ' ';
    at = end + 1;
  }
  return line;
}

std::set<int> descriptors_of(long pid) {
  // More than any test opens.
  std::array<proc_fdinfo, 4096> found{};
  const int size = proc_pidinfo(static_cast<int>(pid), PROC_PIDLISTFDS, 0, found.data(),
                                static_cast<int>(sizeof found));
  const auto count = static_cast<std::size_t>(std::max(size, 0)) / sizeof found[0];
  std::set<int> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.insert(found[i].proc_fd);
  return numbers;
}

/// It is the name of the first thread.
std::string title_of(long pid) {
  const auto thread = facts_of<std::uint64_t>(pid, PROC_PIDLISTTHREADS);
  if (!thread) return {};
  const auto facts = facts_of<proc_threadinfo>(pid, PROC_PIDTHREADINFO, *thread);
  return facts ? facts->pth_name : std::string();
}

std::vector<long> children_of(long pid) {
  std::vector<long> children;
  for (const kinfo_proc& process : processes(KERN_PROC_ALL, 0)) {
    if (process.kp_eproc.e_ppid == pid) children.push_back(process.kp_proc.p_pid);
  }
  return children;
}

Activity activity_of(long pid) {
  const auto facts = facts_of<proc_taskinfo>(pid, PROC_PIDTASKINFO);
  if (!facts) return {};
  return {.sleeps = facts->pti_numrunning == 0,
          .counts = {static_cast<std::uint64_t>(facts->pti_syscalls_unix),
                     static_cast<std::uint64_t>(facts->pti_syscalls_mach)}};
}

std::size_t resident_bytes(long pid) {
  const auto usage = usage_of(pid);
  return usage ? usage->ri_phys_footprint : 0;
}

std::size_t resident_bytes_max(long pid) {
  const auto usage = usage_of(pid);
  return usage ? usage->ri_lifetime_max_phys_footprint : 0;
}

/// Large blocks of up to 1/1024 of the machine's memory, and the smaller blocks of a zone.
std::size_t kept_bytes_max() {
  std::uint64_t memory = 0;
  std::size_t size = sizeof memory;
  if (sysctlbyname("hw.memsize", &memory, &size, nullptr, 0) != 0) return 0;
  return memory / 1024 + (std::size_t{12} << 20);
}

}  // namespace sitter::testing
