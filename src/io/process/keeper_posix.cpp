#include <fcntl.h>
#include <poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "io/control/control_folder.hpp"
#include "io/process/keeper.hpp"
#include "io/system/posix.hpp"
#include "io/system/signals.hpp"
#include "io/system/startup.hpp"

namespace sitter {
namespace {

using namespace std::chrono_literals;

/// A process that leaves its session between two looks is found by its mark.
constexpr std::chrono::milliseconds kLookInterval = 2s;

/// If no unit is left, the keeper only has to notice the end of its pipe.
constexpr std::chrono::milliseconds kEndWait = 100ms;

/// A keeper makes itself ready after this time, because the first answer of the server would wait
/// for it on a machine with one processor. The bridge ends before only if something is wrong.
constexpr std::chrono::milliseconds kReadyWait = 10ms;

/// The keeper's end of the pipe comes right after the standard descriptors.
constexpr int kPipe = STDERR_FILENO + 1;

enum class Event : std::int64_t { started, over };

/// A message in the pipe. It is written and read as a whole, because it is far smaller than
/// PIPE_BUF.
struct Record {
  Event event;
  Generation gen;
  std::int64_t leader;
  std::uint64_t leader_start;
};

bool send(const FileDescriptor& pipe, const Record& record) {
  return write(pipe.number(), &record, sizeof record) == sizeof record;
}

class KeptUnits {
 public:
  explicit KeptUnits(const ProcessRecord& bridge) : bridge_(bridge) {}

  bool empty() const { return units_.empty(); }

  void take(const Record& record) {
    std::erase_if(units_, [&](const ProcessUnit& unit) { return unit.gen() == record.gen; });
    if (record.event == Event::started) {
      units_.emplace_back(static_cast<long>(record.leader), record.leader_start, bridge_,
                          record.gen);
    }
  }

  void look() {
    for (ProcessUnit& unit : units_) unit.look(leaders_beside(unit));
  }

  void kill() {
    for (ProcessUnit& unit : units_) unit.signal(UnitSignal::kill, leaders_beside(unit));
    if (units_.empty()) return;
    // Each round may find processes that were forked during the round before.
    for (int round = 0; round < kSignalRoundsMax && kill_marked(); ++round) {
    }
  }

 private:
  std::vector<long> leaders_beside(const ProcessUnit& unit) const {
    std::vector<long> others;
    for (const ProcessUnit& other : units_) {
      if (other.leader() != unit.leader()) others.push_back(other.leader());
    }
    return others;
  }

  /// Kills the processes that have left their parents and their session since the last look, except
  /// for processes that a build has left behind. False if there were none.
  bool kill_marked() const {
    bool found = false;
    for (const ProcessRecord& process : all_processes()) {
      if (process.zombie || process.start < bridge_.start) continue;
      const auto gen = marked_generation(process.pid, bridge_);
      if (!gen || is_errand(*gen)) continue;
      found = send_signal(process, UnitSignal::kill) == Delivery::delivered || found;
    }
    return found;
  }

  ProcessRecord bridge_;
  std::vector<ProcessUnit> units_;
};

[[noreturn]] void keep(const ProcessRecord& bridge, const std::string& socket) {
  KeptUnits units(bridge);
  while (true) {
    pollfd readable{kPipe, POLLIN, 0};
    int ready = poll(&readable, 1, units.empty() ? -1 : static_cast<int>(kLookInterval.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      units.look();
      platform::give_back_program();
      continue;
    }
    Record record{};
    ssize_t count = read(kPipe, &record, sizeof record);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof record) break;
    units.take(record);
  }
  units.kill();
  if (!socket.empty()) remove_control_file(socket);
  // The keeper must not run the bridge's destructors or flush its buffers.
  _exit(0);
}

}  // namespace

std::optional<Keeper> Keeper::start(const std::string& socket) {
  auto pipe = platform::open_pipe();
  if (!pipe) return std::nullopt;
  const ProcessRecord bridge = this_process();
  // A signal to the bridge's process group must not end a keeper that does not ignore signals yet.
  SignalsBlocked blocked;
  pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    pipe->write_end.close();
    pollfd ended{pipe->read_end.number(), 0, 0};
    poll(&ended, 1, static_cast<int>(kReadyWait.count()));
    std::array kept{pipe->read_end.number()};
    leave_the_bridge("sitter-keeper", kept);
    keep(bridge, socket);
  }
  // A stopped keeper must not block the bridge.
  fcntl(pipe->write_end.number(), F_SETFL, O_NONBLOCK);
  return Keeper(pid, socket, std::move(pipe->write_end));
}

Keeper::~Keeper() {
  if (!pipe_.is_open()) return;
  pipe_.close();
  for (auto waited = 0ms; waited < kEndWait; waited += 1ms) {
    if (waitpid(static_cast<pid_t>(pid_), nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(1ms);
  }
}

bool Keeper::child_started(Generation gen, const ProcessRecord& leader) {
  return send(pipe_, {Event::started, gen, leader.pid, leader.start});
}

bool Keeper::child_over(Generation gen) { return send(pipe_, {Event::over, gen, 0, 0}); }

void Keeper::abandon() { kill(static_cast<pid_t>(pid_), SIGKILL); }

}  // namespace sitter
