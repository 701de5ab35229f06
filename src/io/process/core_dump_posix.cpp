#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/base/shell_word.hpp"
#include "io/process/core_dump.hpp"
#include "io/process/core_file.hpp"
#include "io/process/launch_plan.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/posix.hpp"
#include "io/system/short_program.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

/// gdb takes seconds for the symbols of a large program.
constexpr std::chrono::seconds kStackWait{15};
constexpr std::size_t kStackOutputMax = 64 * limits::kKiB;

/// The time of a file comes from a clock of the system that may be a tick behind.
constexpr std::chrono::milliseconds kFileTimeMargin{20};

/// How macOS names core dumps, if nobody has changed it (core(5)).
constexpr char kMacPattern[] = "/cores/core.%P";

/// What a core dump of the process may be called. What only the system knows becomes a `*`, and so
/// does the number of the process: a shell passes on how the program behind it has ended.
std::string name_pattern(const std::string& pattern) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
    } else if (++i < pattern.size()) {
      name += pattern[i] == '%' ? '%' : '*';
    }
  }
  // See /proc/sys/kernel/core_uses_pid in core(5).
  return name.ends_with('*') ? name : name + "*";
}

/// The core dump in this file. Nothing if it is another file.
std::optional<CoreFacts> core_in(const fs::path& path) {
  // Nothing waits for the writer of a FIFO.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts {};
  if (!file.is_open() || fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  return read_core(file.number());
}

struct Core {
  fs::path file;
  std::string program;
};

/// The newest core dump of such a name of a process of the unit that `leader` leads.
std::optional<Core> newest_core(const fs::path& pattern, long leader, WallTime since) {
  std::optional<Core> newest;
  WallTime newest_at = since - kFileTimeMargin;
  std::error_code error;
  for (fs::directory_iterator at(pattern.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    if (fnmatch(pattern.filename().c_str(), at->path().filename().c_str(), 0) != 0) continue;
    struct stat facts {};
    if (stat(at->path().c_str(), &facts) != 0) continue;
    const timespec written = platform::written_at(facts);
    const WallTime written_at{std::chrono::duration_cast<WallTime::duration>(
        std::chrono::seconds(written.tv_sec) + std::chrono::nanoseconds(written.tv_nsec))};
    if (written_at < newest_at) continue;
    auto core = core_in(at->path());
    if (!core || (core->pid != 0 && core->pid != leader && core->session != leader)) continue;
    newest = {at->path(), std::move(core->program)};
    newest_at = written_at;
  }
  return newest;
}

}  // namespace

bool leaves_core(const ExitStatus& status) {
  static constexpr std::string_view kSignals[] = {"SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT",
                                                  "SIGBUS",  "SIGFPE", "SIGSEGV", "SIGXCPU",
                                                  "SIGXFSZ", "SIGSYS"};
  const std::string& signal = status.by_signal() ? status.signal : status.passed_on;
  return std::find(std::begin(kSignals), std::end(kSignals), signal) != std::end(kSignals);
}

CoreDump core_dump_of(const Reaped& ended, const std::string& program, const std::string& cwd,
                      WallTime started) {
  std::string pattern = first_line_of("/proc/sys/kernel/core_pattern");
  if (pattern.empty()) pattern = kMacPattern;
  // A shell does not know whether the program behind it has left one.
  const bool is_passed_on = !ended.status.by_signal();
  if (ended.left_core || is_passed_on) {
    if (CoreDump dump = core_dump_at(pattern, ended, program, cwd, started); !dump.where.empty()) {
      return dump;
    }
  }
  rlimit limit{};
  const bool is_off = getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0;
  if (ended.left_core || (is_passed_on && !is_off)) {
    return {fmt::format("{} is not in {}: look for {} where the program worked last",
                        ended.left_core ? "Its core dump" : "If it left a core dump, that",
                        shell_word(cwd), pattern),
            {}};
  }
  if (is_off) {
    return {
        "It left no core dump; to get one, run ulimit -c unlimited before the client is started",
        {}};
  }
  return {fmt::format("It left no core dump: its limit or the server itself forbids one, or the "
                      "system could not write {} (see core(5))",
                      pattern),
          {}};
}

CoreDump core_dump_at(const std::string& pattern, const Reaped& ended, const std::string& program,
                      const std::string& cwd, WallTime started) {
  if (pattern.starts_with('|')) {
    if (pattern.find("systemd-coredump") != pattern.npos) {
      // Without a number, it shows the last one.
      const std::string shows = ended.status.by_signal()
                                    ? fmt::format("coredumpctl info {}", ended.pid)
                                    : "coredumpctl info";
      CoreDump dump{shows + " shows its core dump", {}};
      // The core dump is stored some time after the end of the process.
      if (!find_program("coredumpctl").empty()) {
        dump.reader = {"sh", "-c", fmt::format("sleep 2; exec {} --no-pager", shows)};
      }
      return dump;
    }
    if (pattern.find("apport") != pattern.npos) {
      return {"Its core dump is in a report in /var/crash (apport-unpack)", {}};
    }
    return {"Its core dump went to the program " + pattern.substr(1, pattern.find(' ') - 1), {}};
  }
  const auto core = newest_core(fs::path(cwd) / name_pattern(pattern), ended.pid, started);
  if (!core) return {};
  const std::string& of = core->program.empty() ? program : core->program;
  CoreDump dump{fmt::format("Its core dump is {0}: gdb {1} {0}", shell_word(core->file.string()),
                            shell_word(of)),
                {}};
  if (!find_program("gdb").empty()) {
    dump.reader = {"gdb",  "-nx",
                   "-q",   "-batch",
                   "-iex", "set debuginfod enabled off",
                   "-iex", "set print frame-arguments none",
                   "-ex",  fmt::format("bt {}", limits::kFramesMax),
                   of,     core->file.string()};
  }
  return dump;
}

struct StackReader::Reading final : EventLoop::Reader {
  Reading(EventLoop& of, std::function<void(std::string)> told)
      : loop(of), on_read(std::move(told)) {}

  Seen on_readable() override {
    std::array<char, 4 * limits::kKiB> piece;
    const ssize_t count = read(source.number(), piece.data(), piece.size());
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Seen::nothing;
    if (count < 0 && errno == EINTR) return Seen::filled;
    if (count > 0 && output.size() < kStackOutputMax) {
      const auto size = static_cast<std::size_t>(count);
      output.append(piece.data(), size);
      return size == piece.size() ? Seen::filled : Seen::partly;
    }
    loop.forget(*this);
    source.close();
    // The call may lead to another reader in the place of this one.
    const auto told = std::move(on_read);
    if (std::string stack = stack_in(output); !stack.empty()) told(std::move(stack));
    return Seen::partly;
  }

  EventLoop& loop;
  std::function<void(std::string)> on_read;
  FileDescriptor source;
  std::string output;
};

StackReader::StackReader(EventLoop& loop, const std::vector<std::string>& reader,
                         std::function<void(std::string)> on_read)
    : reading_(std::make_unique<Reading>(loop, std::move(on_read))) {
  long pid = 0;
  reading_->source = start_short_program(find_program(reader.front()), reader, kStackWait, &pid);
  if (!reading_->source.is_open()) return;
  debugger_ = find_process(pid);
  loop.watch(reading_->source.number(), *reading_);
}

StackReader::~StackReader() {
  reading_->loop.forget(*reading_);
  // As long as nobody has reaped it, no other process or group can have its number.
  const auto now = debugger_ ? find_process(debugger_->pid) : std::nullopt;
  if (!now || now->start != debugger_->start) return;
  for (const long target : {now->pid, -now->pid}) kill(static_cast<pid_t>(target), SIGKILL);
}

}  // namespace sitter
