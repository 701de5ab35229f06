#include "soak/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "soak/client.hpp"
#include "soak/household.hpp"
#include "soak/ledger.hpp"
#include "soak/mischief.hpp"
#include "support/proc_status.hpp"
#include "support/processes.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::soak {

volatile std::sig_atomic_t is_asked_to_end = 0;

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kRound{2};
constexpr milliseconds kSampling{500};
/// In milliseconds. A server mostly has time to come up and to serve.
constexpr int kBetweenMischiefMax = 400;

/// The bound for requests without an answer. Further requests would only wait for a server, and the
/// bridge lets at most 1000 wait.
constexpr std::size_t kOpenMax = 400;

/// An answer that has not come after this time never comes. The longest wait that is allowed is the
/// wait for the start of a server, 50 s.
constexpr std::chrono::seconds kLostAfter{90};

/// The bridge gives memory back within a second.
constexpr milliseconds kRest{1500};

std::string new_mark() {
  static int count = 0;
  return "SITTER_SOAK_MARK=" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files.push_back(entry.path());
  }
  return files;
}

std::size_t median(std::vector<std::size_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Session {
 public:
  Session(const SessionSetup& setup, sim::Random& random, Findings& findings)
      : setup_(setup),
        random_(random),
        findings_(findings),
        server_(place_.copy_program("server", setup.fake_mcp)),
        household_(setup.sitter, new_mark(), setup.has_namespace),
        ledger_(findings, place_ / "journal"),
        client_(start(), ledger_, findings),
        mischief_(client_, household_, place_, setup.sitter, environment(), findings) {}

  std::vector<Memory> play() {
    client_.open();
    const Clock::time_point end = Clock::now() + setup_.length;
    while (Clock::now() < end && lives() && !is_asked_to_end) {
      work(std::min(end, Clock::now() + setup_.between_rests));
      if (lives()) rest();
    }
    finish();
    return std::move(memory_);
  }

 private:
  std::vector<std::string> environment() const {
    return {household_.mark(), "XDG_RUNTIME_DIR=" + runtime_.path(), "TMPDIR=" + temporary_.path()};
  }

  testing::Program::Start start() const {
    Mischief::furnish(place_);
    testing::Program::Start start{.command = {setup_.sitter}, .environment = environment()};
    const auto add = [&](const std::vector<std::string>& words) {
      start.command.insert(start.command.end(), words.begin(), words.end());
    };
    add(Mischief::options(place_));
    add(setup_.more_options);
    add({"--", server_, "--journal", place_ / "journal"});
    add(Mischief::server_flags());
    return start;
  }

  bool lives() { return !client_.program().has_ended(); }

  /// Makes requests and mischief until `end`.
  void work(Clock::time_point end) {
    const Clock::time_point begun = Clock::now();
    Clock::time_point next_mischief = begun;
    Clock::time_point next_sample = begun;
    std::size_t asked = 0;
    for (Clock::time_point now = begun; now < end && lives() && !is_asked_to_end;
         now = Clock::now()) {
      const auto due = static_cast<std::size_t>(std::chrono::duration<double>(now - begun).count() *
                                                setup_.calls_per_second);
      for (; asked < due && ledger_.open_count() < kOpenMax; ++asked) client_.ask_anything(random_);
      // Requests that could not be made in time are left out.
      asked = due;
      if (now >= next_mischief) {
        mischief_.do_something(random_);
        next_mischief = now + milliseconds(random_.below(kBetweenMischiefMax));
      }
      if (now >= next_sample) {
        samples_.push_back(resident());
        ledger_.read_journal();
        next_sample = now + kSampling;
      }
      client_.hear(kRound);
    }
  }

  std::size_t resident() { return testing::resident_bytes(client_.program().pid()) / 1024; }

  /// Hears the bridge until the condition holds. Returns false if it does not hold in time.
  template <class Condition>
  bool hear_until(Clock::duration patience, Condition condition) {
    const Clock::time_point end = Clock::now() + patience;
    while (!condition()) {
      if (Clock::now() > end || !lives()) return condition();
      client_.hear(kRound);
    }
    return true;
  }

  /// Waits until every request is answered and no server runs. Then the test can count what is
  /// missing, doubled or left behind.
  void rest() {
    client_.cancel_doomed();
    if (!hear_until(kLostAfter, [this] { return ledger_.open_count() == 0; })) ledger_.give_up();
    if (!hear_until(kLostAfter, [this] { return mischief_.try_to_end_ctl(); })) {
      mischief_.give_up_ctl();
    }
    kill_server();
    // A reload that was asked for from outside just before may still have started a server.
    const bool is_empty = hear_until(testing::kPatience, [&] {
      if (ledger_.open_count() > 0) return false;
      if (household_.servers().empty()) return true;
      kill_server();
      return false;
    });
    if (!is_empty) find_left(household_.servers());
    const Clock::time_point rested = Clock::now() + kRest;
    hear_until(2 * kRest, [&] { return Clock::now() > rested; });
    ledger_.read_journal();
    print_row();
    samples_.clear();
  }

  /// Kills only the child, and no other process that runs the same program. Otherwise the test
  /// would not see processes that were left behind earlier.
  void kill_server() { client_.call("sitter_kill", {{"scope", "child"}}); }

  void print_row() {
    const Memory memory{.at_work = median(samples_),
                        .at_rest = resident(),
                        .own_at_rest = testing::own_resident_bytes(client_.program().pid()) / 1024};
    memory_.push_back(memory);
    const auto minutes =
        std::chrono::duration<double, std::ratio<60>>(Clock::now() - begun_).count();
    const Ledger::Counts& counts = ledger_.counts();
    std::printf("| %6.1f | %9zu | %9zu | %9zu | %9zu | %9zu | %11zu | %11zu | %10zu |\n", minutes,
                counts.sent, counts.failed, counts.cancelled, mischief_.count(),
                ledger_.server_count(), memory.at_work, memory.at_rest, memory.own_at_rest);
    std::fflush(stdout);
  }

  void find_left(const std::vector<long>& pids) {
    for (const long pid : pids) {
      findings_.add(Promise::no_process_left,
                    std::to_string(pid) + " " + testing::command_line_of(pid));
      kill(static_cast<pid_t>(pid), SIGKILL);
    }
  }

  /// Ends the bridge in one of the ways in which clients do it, in the middle of work.
  void finish() {
    testing::Program& bridge = client_.program();
    if (!lives()) {
      findings_.add(
          Promise::bridge_stays,
          "the bridge ended with " + std::to_string(bridge.wait()) + ": " + bridge.error_text());
      return;
    }
    for (int i = 0; i < 100; ++i) client_.ask_anything(random_);
    int wanted = 0;
    switch (random_.below(3)) {
      case 0:
        client_.end();
        break;
      case 1:
        bridge.signal(SIGTERM);
        wanted = 128 + SIGTERM;
        break;
      default:
        bridge.signal(SIGKILL);
        wanted = 128 + SIGKILL;
    }
    client_.hear(bridge.read_all());
    // After a signal the bridge does not wait for answers.
    if (wanted != 0) ledger_.forgive();
    ledger_.give_up();
    const int code = bridge.wait();
    if (code != wanted) {
      findings_.add(Promise::bridge_stays, "the bridge ended with " + std::to_string(code) +
                                               " and not " + std::to_string(wanted) + ": " +
                                               bridge.error_text());
    }
    if (!testing::eventually([this] { return mischief_.try_to_end_ctl(); }))
      mischief_.give_up_ctl();
    if (!testing::eventually([this] { return household_.all().empty(); })) {
      find_left(household_.all());
    }
    ledger_.read_journal();
    for (const auto* folder : {&runtime_, &temporary_}) {
      for (std::string& file : files_below(folder->path())) {
        findings_.add(Promise::no_file_left, std::move(file));
      }
    }
  }

  const SessionSetup& setup_;
  sim::Random& random_;
  Findings& findings_;
  const testing::TemporaryDirectory place_, runtime_, temporary_;
  const std::string server_;
  const Household household_;
  Ledger ledger_;
  Client client_;
  Mischief mischief_;
  const Clock::time_point begun_ = Clock::now();
  std::vector<std::size_t> samples_;
  std::vector<Memory> memory_;
};

}  // namespace

std::vector<Memory> play_session(const SessionSetup& setup, sim::Random& random,
                                 Findings& findings) {
  return Session(setup, random, findings).play();
}

void print_head_of_table() {
  std::printf(
      "| minute |  requests |    failed | cancelled |  mischief |   servers | RSS at work | RSS at "
      "rest "
      "|  own of it |\n"
      "| -----: | --------: | --------: | --------: | --------: | --------: | ----------: | "
      "----------: "
      "| ---------: |\n");
}

}  // namespace sitter::soak
