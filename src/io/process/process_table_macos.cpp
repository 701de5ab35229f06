#include <libproc.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "io/process/process_table.hpp"

namespace sitter {
namespace {

/// More processes than there is room for may start between two calls of the system, but not again
/// and again.
constexpr int kQueryTries = 10;

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::uint64_t kMicrosecondsPerSecond = 1'000'000;

ProcessRecord to_record(const kinfo_proc& process) {
  ProcessRecord record;
  record.pid = process.kp_proc.p_pid;
  record.parent = process.kp_eproc.e_ppid;
  record.group = process.kp_eproc.e_pgid;
  record.session = getsid(process.kp_proc.p_pid);
  record.user = process.kp_eproc.e_ucred.cr_uid;
  record.start =
      static_cast<std::uint64_t>(process.kp_proc.p_starttime.tv_sec) * kMicrosecondsPerSecond +
      static_cast<std::uint64_t>(process.kp_proc.p_starttime.tv_usec);
  record.zombie = process.kp_proc.p_stat == SZOMB;
  return record;
}

std::vector<kinfo_proc> query(int what, int argument) {
  int name[] = {CTL_KERN, KERN_PROC, what, argument};
  std::vector<kinfo_proc> processes;
  for (int i = 0; i < kQueryTries; ++i) {
    std::size_t size = 0;
    if (sysctl(name, 4, nullptr, &size, nullptr, 0) != 0) return {};
    // If more processes have started since the first call than there is room for, the second call
    // fails with ENOMEM (sysctl(3)).
    constexpr std::size_t kMore = 64;
    processes.resize(size / sizeof(kinfo_proc) + kMore);
    size = processes.size() * sizeof(kinfo_proc);
    if (sysctl(name, 4, processes.data(), &size, nullptr, 0) == 0) {
      processes.resize(size / sizeof(kinfo_proc));
      return processes;
    }
    if (errno != ENOMEM) break;
  }
  return {};
}

/// The text holds the number of arguments, the path of the executable, NUL bytes, the arguments and
/// the environment. A NUL ends each entry.
std::string start_text_of(long pid) {
  int argument_max = 0;
  std::size_t size = sizeof argument_max;
  int max_name[] = {CTL_KERN, KERN_ARGMAX};
  if (sysctl(max_name, 2, &argument_max, &size, nullptr, 0) != 0) return {};
  std::string text(static_cast<std::size_t>(argument_max), '\0');
  size = text.size();
  int name[] = {CTL_KERN, KERN_PROCARGS2, static_cast<int>(pid)};
  if (sysctl(name, 3, text.data(), &size, nullptr, 0) != 0) return {};
  text.resize(size);
  return text;
}

/// What a process was started with.
struct Start {
  std::vector<std::string> arguments;
  /// "NAME=value". After the environment come strings of the system, in the same form.
  std::vector<std::string> environment;
};

// An empty first argument cannot be told from the NUL bytes before it, and is left out. Then the
// first entry of the environment counts as the last argument.
Start start_of(long pid) {
  const std::string text = start_text_of(pid);
  int count = 0;
  if (text.size() < sizeof count) return {};
  std::memcpy(&count, text.data(), sizeof count);
  Start start;
  std::size_t at = text.find_first_not_of('\0', text.find('\0', sizeof count));
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    auto& entries = start.arguments.size() < static_cast<std::size_t>(std::max(count, 0))
                        ? start.arguments
                        : start.environment;
    entries.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return start;
}

/// The file of the lowest mapping, which is that of the program.
ImageIdentity lowest_image_of(long pid) {
  proc_regionwithpathinfo info{};
  const int size =
      proc_pidinfo(static_cast<int>(pid), PROC_PIDREGIONPATHINFO, 0, &info, sizeof info);
  if (size != static_cast<int>(sizeof info)) return {};
  const vinfo_stat& facts = info.prp_vip.vip_vi.vi_stat;
  ImageIdentity image;
  image.path = info.prp_vip.vip_path;
  image.device = facts.vst_dev;
  image.inode = facts.vst_ino;
  image.born = static_cast<std::uint64_t>(facts.vst_birthtime) * kNanosecondsPerSecond +
               static_cast<std::uint64_t>(facts.vst_birthtimensec);
  return image;
}

}  // namespace

ImageIdentity identity_at(const std::string& path) {
  struct stat facts {};
  if (path.empty() || stat(path.c_str(), &facts) != 0) return {};
  ImageIdentity image;
  image.device = static_cast<std::uint64_t>(facts.st_dev);
  image.inode = facts.st_ino;
  image.born = static_cast<std::uint64_t>(facts.st_birthtimespec.tv_sec) * kNanosecondsPerSecond +
               static_cast<std::uint64_t>(facts.st_birthtimespec.tv_nsec);
  return image;
}

bool lists_processes() { return true; }

std::vector<ProcessRecord> all_processes() {
  std::vector<ProcessRecord> processes;
  for (const kinfo_proc& process : query(KERN_PROC_ALL, 0)) {
    processes.push_back(to_record(process));
  }
  return processes;
}

// One call lists them all.
std::vector<ProcessRecord> families_of(std::vector<long>) { return all_processes(); }

bool is_number_in_use(long) { return true; }

std::optional<ProcessRecord> find_process(long pid) {
  auto found = query(KERN_PROC_PID, static_cast<int>(pid));
  if (found.empty()) return std::nullopt;
  return to_record(found.front());
}

std::vector<std::string> arguments_of(long pid) { return start_of(pid).arguments; }

long tracer_of(long pid) {
  const auto found = query(KERN_PROC_PID, static_cast<int>(pid));
  // A process that is traced is a child of the process that traces it.
  const bool is_traced = !found.empty() && (found.front().kp_proc.p_flag & P_TRACED) != 0;
  return is_traced ? found.front().kp_eproc.e_ppid : 0;
}

ProcessActivity activity_of(long) { return {}; }

std::vector<std::string> environment_entries(long pid, const std::string& begin) {
  std::vector<std::string> entries = start_of(pid).environment;
  std::erase_if(entries, [&](const std::string& entry) { return !entry.starts_with(begin); });
  return entries;
}

std::optional<std::uint64_t> lock_limit_of(long) { return std::nullopt; }

std::string working_directory_of(long pid) {
  proc_vnodepathinfo info{};
  int size = proc_pidinfo(static_cast<int>(pid), PROC_PIDVNODEPATHINFO, 0, &info, sizeof info);
  return size == static_cast<int>(sizeof info) ? info.pvi_cdir.vip_path : "";
}

ImageIdentity image_of(long pid) {
  char path[PROC_PIDPATHINFO_MAXSIZE];
  int length = proc_pidpath(static_cast<int>(pid), path, sizeof path);
  // A deleted file has no path.
  if (length <= 0) return lowest_image_of(pid);
  ImageIdentity image = identity_at(path);
  image.path.assign(path, static_cast<std::size_t>(length));
  return image;
}

bool runs_image(long pid, const ImageIdentity& image) {
  ImageIdentity running = image_of(pid);
  if (!running.path.empty() && running.path == image.path) return true;
  return running.is_same_file(image);
}

std::optional<OpenFileIdentity> input_of(long pid) {
  pipe_fdinfo info{};
  int size = proc_pidfdinfo(static_cast<int>(pid), 0, PROC_PIDFDPIPEINFO, &info, sizeof info);
  if (size != static_cast<int>(sizeof info)) return std::nullopt;
  return OpenFileIdentity{0, info.pipeinfo.pipe_handle};
}

Delivery send_signal(const ProcessRecord& process, UnitSignal signal) {
  auto now = find_process(process.pid);
  if (!now || now->start != process.start || now->zombie) return Delivery::gone;
  const int number = signal == UnitSignal::kill ? SIGKILL : SIGTERM;
  if (kill(static_cast<pid_t>(process.pid), number) == 0) return Delivery::delivered;
  return errno == EPERM ? Delivery::not_permitted : Delivery::gone;
}

}  // namespace sitter
