#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "io/process/process_table.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {
namespace {

constexpr std::size_t kArgumentsMax = 64 * 1024;

/// More than any file of a process that has a bounded size. `stat` has about 300 bytes.
constexpr std::size_t kFileMax = 8 * 1024;
constexpr std::size_t kStatMax = 1024;

/// Nine thousand children of a thread, each with its number and a space.
constexpr std::size_t kChildrenMax = 64 * 1024;

// The kernel appends this to the name of a running file that was deleted.
constexpr std::string_view kDeleted = " (deleted)";

/// Empty, which is not a valid path, if /proc belongs to another pid namespace.
std::string proc_path(long pid, const char* name) {
  if (!lists_processes()) return {};
  return "/proc/" + std::to_string(pid) + '/' + name;
}

std::string read_some(int descriptor, std::size_t size_max) {
  std::string text(size_max, '\0');
  std::size_t length = 0;
  while (length < size_max) {
    ssize_t count = read(descriptor, text.data() + length, size_max - length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    length += static_cast<std::size_t>(count);
  }
  text.resize(length);
  return text;
}

/// What /proc has in this file of a process: the beginning, if it is longer. Empty if it cannot be
/// read. Files may be large but rarely are, and each page of a buffer takes time.
std::string read_file(long pid, const char* name, std::size_t size_max) {
  constexpr std::size_t kPieceMin = 4 * 1024;
  const FileDescriptor file(open(proc_path(pid, name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  while (file.is_open() && text.size() < size_max) {
    const std::size_t size = std::min(std::max(kPieceMin, text.size()), size_max - text.size());
    const std::string piece = read_some(file.number(), size);
    text += piece;
    if (piece.size() < size) break;
  }
  return text;
}

std::string read_link(const std::string& path) {
  char target[PATH_MAX];
  ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

/// The entries of a folder of /proc that are numbers: processes, or threads.
class NumberedEntries {
 public:
  explicit NumberedEntries(const std::string& path) : directory_(opendir(path.c_str())) {}

  int descriptor() const { return dirfd(directory_.get()); }

  std::optional<long> next() const {
    while (const dirent* entry = directory_ ? readdir(directory_.get()) : nullptr) {
      const long number = std::strtol(entry->d_name, nullptr, 10);
      if (number > 0) return number;
    }
    return std::nullopt;
  }

 private:
  struct Closer {
    void operator()(DIR* directory) const { closedir(directory); }
  };
  std::unique_ptr<DIR, Closer> directory_;
};

/// The fields of /proc/PID/stat behind the name, which may contain any character (proc(5)).
struct Stat {
  enum Field {
    parent = 4,
    group = 5,
    session = 6,
    user_time = 14,
    system_time = 15,
    threads = 20,
    start = 22
  };

  long number(Field field) const { return static_cast<long>(numbers[field]); }

  char state = 0;
  std::array<unsigned long long, start + 1> numbers{};
};

std::optional<Stat> parse_stat(const std::string& text) {
  std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 3 >= text.size()) return std::nullopt;
  const char* next = text.c_str() + name_end + 2;
  Stat stat;
  stat.state = *next++;
  for (std::size_t field = Stat::parent; field < stat.numbers.size(); ++field) {
    char* end = nullptr;
    stat.numbers[field] = std::strtoull(next, &end, 10);
    if (end == next) return std::nullopt;
    next = end;
  }
  return stat;
}

/// `file` is the stat of the process.
std::optional<ProcessRecord> read_record(const FileDescriptor& file, long pid) {
  struct stat facts {};
  if (!file.is_open() || fstat(file.number(), &facts) != 0) return std::nullopt;
  const auto stat = parse_stat(read_some(file.number(), kStatMax));
  if (!stat) return std::nullopt;
  // If the first thread of a process has ended, the process appears as a zombie although other
  // threads still run.
  const bool is_dead = stat->state == 'Z' || stat->state == 'X';
  return ProcessRecord{.pid = pid,
                       .parent = stat->number(Stat::parent),
                       .group = stat->number(Stat::group),
                       .session = stat->number(Stat::session),
                       .user = facts.st_uid,
                       .start = stat->numbers[Stat::start],
                       .zombie = is_dead && stat->number(Stat::threads) <= 1};
}

/// The number behind this name. Nothing if there is none.
std::optional<unsigned long long> number_behind(std::string_view name, const std::string& text) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return std::nullopt;
  const char* const begin = text.c_str() + at + name.size();
  char* end = nullptr;
  const unsigned long long number = std::strtoull(begin, &end, 10);
  return end == begin ? std::nullopt : std::optional(number);
}

/// The number behind this name in the status of a process or thread; 0 if it cannot be read.
long number_in_status(long pid, std::string_view name) {
  return static_cast<long>(number_behind(name, read_file(pid, "status", kFileMax)).value_or(0));
}

ImageIdentity identity_of(const struct statx& facts) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  ImageIdentity image;
  image.device = std::uint64_t{facts.stx_dev_major} << 32 | facts.stx_dev_minor;
  image.inode = facts.stx_ino;
  if ((facts.stx_mask & STATX_BTIME) != 0) {
    image.born =
        static_cast<std::uint64_t>(facts.stx_btime.tv_sec) * kSecond + facts.stx_btime.tv_nsec;
  }
  return image;
}

constexpr unsigned kIdentityFields = STATX_INO | STATX_BTIME;

// A container has its own files under the same names.
bool sees_our_files(long pid) {
  return read_link(proc_path(pid, "ns/mnt")) == read_link("/proc/self/ns/mnt");
}

bool takes_signal(int error) { return error != EPERM && error != EACCES; }

}  // namespace

ImageIdentity identity_at(const std::string& path) {
  struct statx facts {};
  if (statx(AT_FDCWD, path.c_str(), 0, kIdentityFields, &facts) != 0) return {};
  return identity_of(facts);
}

bool lists_processes() {
  // It does not change within a process. A process that was forked may share this memory.
  static std::atomic<pid_t> first{0};
  const pid_t own = getpid();
  if (first == own) return true;
  const bool lists_us = read_link("/proc/self") == std::to_string(own);
  if (lists_us && first == 0) first = own;
  return lists_us;
}

std::vector<ProcessRecord> all_processes() {
  std::vector<ProcessRecord> processes;
  if (!lists_processes()) return processes;
  const NumberedEntries list("/proc");
  while (const auto pid = list.next()) {
    const std::string path = std::to_string(*pid) + "/stat";
    const FileDescriptor file(openat(list.descriptor(), path.c_str(), O_RDONLY | O_CLOEXEC));
    if (auto record = read_record(file, *pid)) processes.push_back(*record);
  }
  return processes;
}

std::vector<ProcessRecord> families_of(std::vector<long> pids) {
  // A kernel may be built without these files.
  if (access("/proc/thread-self/children", R_OK) != 0) return all_processes();
  std::vector<ProcessRecord> processes;
  std::set<long> seen;
  for (std::size_t next = 0; next < pids.size(); ++next) {
    const long pid = pids[next];
    if (!seen.insert(pid).second) continue;
    if (auto record = find_process(pid)) processes.push_back(*record);
    const NumberedEntries threads(proc_path(pid, "task"));
    while (const auto thread = threads.next()) {
      std::istringstream children(
          read_file(pid, fmt::format("task/{}/children", *thread).c_str(), kChildrenMax));
      for (long child = 0; children >> child;) pids.push_back(child);
    }
  }
  return processes;
}

bool is_number_in_use(long number) {
  const auto pid = static_cast<pid_t>(number);
  // gVisor looks only for a process below.
  if (kill(-pid, 0) == 0 || errno != ESRCH) return true;
  // Any number that is in use may own a file. Linux before 4.13 takes all numbers.
  const FileDescriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return !file.is_open() || fcntl(file.number(), F_SETOWN, pid) == 0 || errno != ESRCH;
}

std::optional<ProcessRecord> find_process(long pid) {
  return read_record(FileDescriptor(open(proc_path(pid, "stat").c_str(), O_RDONLY | O_CLOEXEC)),
                     pid);
}

std::vector<std::string> arguments_of(long pid) {
  const std::string text = read_file(pid, "cmdline", kArgumentsMax);
  std::vector<std::string> words;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find('\0'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

long tracer_of(long pid) {
  const long tracer = number_in_status(pid, "\nTracerPid:");
  // A debugger may trace with any of its threads.
  return tracer == 0 ? 0 : number_in_status(tracer, "\nTgid:");
}

ProcessActivity activity_of(long pid) {
  const auto stat = parse_stat(read_file(pid, "stat", kStatMax));
  if (!stat) return {};
  const long ticks = stat->number(Stat::user_time) + stat->number(Stat::system_time);
  ProcessActivity activity{.state = stat->state,
                           .waits_in = read_file(pid, "wchan", kFileMax),
                           .used = Milliseconds(1000 * ticks / sysconf(_SC_CLK_TCK))};
  // The kernel writes 0 for a process that runs or may not be looked at.
  if (activity.waits_in == "0") activity.waits_in.clear();
  return activity;
}

std::vector<std::string> environment_entries(long pid, const std::string& begin) {
  constexpr std::size_t kEnvironmentMax = 4 * 1024 * 1024;
  const std::string all = '\0' + read_file(pid, "environ", kEnvironmentMax);
  std::vector<std::string> entries;
  for (std::size_t at = 0; (at = all.find('\0' + begin, at)) != std::string::npos;) {
    const std::size_t end = std::min(all.find('\0', ++at), all.size());
    entries.push_back(all.substr(at, end - at));
    at = end;
  }
  return entries;
}

std::optional<std::uint64_t> lock_limit_of(long pid) {
  return number_behind("\nMax file locks ", read_file(pid, "limits", kFileMax));
}

std::string working_directory_of(long pid) { return read_link(proc_path(pid, "cwd")); }

ImageIdentity image_of(long pid) {
  // The link leads to the file itself, even if the file was renamed or deleted. The link is
  // followed only once, since the process may start another program or end in between.
  FileDescriptor file(open(proc_path(pid, "exe").c_str(), O_PATH | O_CLOEXEC));
  struct statx facts {};
  if (!file.is_open() || statx(file.number(), "", AT_EMPTY_PATH, kIdentityFields, &facts) != 0) {
    return {};
  }
  ImageIdentity image = identity_of(facts);
  image.path = read_link("/proc/self/fd/" + std::to_string(file.number()));
  if (image.path.ends_with(kDeleted)) image.path.resize(image.path.size() - kDeleted.size());
  return image;
}

bool runs_image(long pid, const ImageIdentity& image) {
  std::string link = proc_path(pid, "exe");
  ImageIdentity running = identity_at(link);
  if (!running.is_known()) return false;
  if (running.device == image.device && running.inode == image.inode) {
    return running.is_same_file(image);
  }
  return !image.path.empty() && read_link(link) == image.path + std::string(kDeleted) &&
         sees_our_files(pid);
}

std::optional<OpenFileIdentity> input_of(long pid) {
  struct stat facts {};
  if (stat(proc_path(pid, "fd/0").c_str(), &facts) != 0) return std::nullopt;
  return OpenFileIdentity{facts.st_dev, facts.st_ino};
}

Delivery send_signal(const ProcessRecord& process, UnitSignal signal) {
  const int number = signal == UnitSignal::kill ? SIGKILL : SIGTERM;
  // The descriptor refers to this process, so the signal cannot reach another process that gets the
  // same pid between the check and the signal. Old kernels and sandboxes refuse the descriptor.
  FileDescriptor handle(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!handle.is_open() && errno == ESRCH) return Delivery::gone;
  auto now = find_process(process.pid);
  if (!now || now->start != process.start || now->zombie) return Delivery::gone;
  long result = handle.is_open()
                    ? syscall(SYS_pidfd_send_signal, handle.number(), number, nullptr, 0)
                    : kill(static_cast<pid_t>(process.pid), number);
  if (result == 0) return Delivery::delivered;
  return takes_signal(errno) ? Delivery::gone : Delivery::not_permitted;
}

}  // namespace sitter
