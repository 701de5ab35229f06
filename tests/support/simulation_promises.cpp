#include "support/simulation_promises.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/child/call_replay.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/child/ending.hpp"
#include "core/child/own_restart.hpp"
#include "core/client/client_facts.hpp"
#include "core/client/client_requests.hpp"
#include "core/client/relist_wait.hpp"
#include "core/client/streams.hpp"
#include "core/rebuild/watched_changes.hpp"
#include "sitter/limits.hpp"

/// Nothing waits for ever, and the end.
namespace sitter::sim {

Promises::Promises(const BridgeConfig& config, const Said& said, const Scene& scene)
    : config_(config),
      said_(said),
      scene_(scene),
      requests_(scene_, now_),
      lives_(config_, scene_, now_) {}

void Promises::on_start(Generation gen) {
  if (stopped_at_) throw Broken("a start at the end");
  lives_.on_start(gen);
}

void Promises::on_release(Generation gen) {
  lives_.on_release(gen);
  lose_requests(gen);
}

void Promises::on_renumber_child(Generation from, Generation gen) {
  if (is_ending()) {
    throw Broken("a server that has restarted itself is opened again at the end");
  }
  lives_.on_renumber(from, gen);
  streams_.on_lost(from);
  lose_requests(from);
}

void Promises::on_saved(const fact::FilesChanged& fact) {
  const bool are_usable = std::all_of(fact.files.begin(), fact.files.end(),
                                      [](const auto& file) { return file.is_usable; });
  // What is saved in some reloads in a row may be taken for the work of the reloads or the server.
  const bool is_sure = ++saves_ < limits::kLateWritesInARow && are_usable && !scene_.builds_write &&
                       !scene_.children_write && !is_ending();
  saved_at_ = is_sure ? std::optional(now_) : std::nullopt;
}

void Promises::on_control_line(const ControlAsked& asked) {
  if (asked.text.find("kill") != asked.text.npos) saved_at_.reset();
  controls_.on_asked(asked, now_);
  lives_.on_asked();
  if (!asked.is_wrong && asked.kind == ControlAsked::Kind::reload) {
    lives_.on_build_asked(asked.build_timeout);
  }
}

void Promises::on_exit() {
  has_exited_ = true;
  if (!is_ending()) throw Broken("the program ends without a reason");
  requests_.check_end();
  controls_.check_end();
  lives_.check_all_released();
}

void Promises::on_settled(const Bridge& bridge) {
  if (has_exited_) return;
  if (must_reach_ != std::pair(0, kNoGeneration))
    throw Broken("a line of the client was not passed on");
  lives_.check(standstill_max());
  if (!requests_.is_held()) requests_.check_errors();
  questions_.check(now_);
  const auto wait = lives_.has_running_build() ? std::nullopt : standstill_max();
  if (wait) streams_.check(now_ - *wait - limits::kStreamAckWait, lives_.moved_at());
  controls_.check(wait ? std::optional(now_ - *wait) : std::nullopt, lives_.moved_at());
  check_requests();
  check_owed(bridge);
  if (stopped_at_ && now_ > *stopped_at_ + Milliseconds(300)) {
    throw Broken("the program lives more than 300 ms after a signal");
  }
  const Milliseconds rungs = 2 * std::min(config_.kill_grace, limits::kShutdownRungMax);
  const Milliseconds last = rungs + limits::kGiveUpAfterKill + limits::kDrain + kLate;
  if (closed_at_ && now_ > *closed_at_ + limits::kOwedWait + last) {
    throw Broken("the end takes too long");
  }
}

void Promises::on_timeout_handled(std::optional<Instant> next) const {
  // Without a grace, SIGKILL follows SIGTERM at the same moment, but not in the same step.
  const bool may_be_now = config_.kill_grace == Milliseconds::zero();
  if (next && (may_be_now ? *next < now_ : *next <= now_)) {
    throw Broken("a timeout that was handled is still due");
  }
}

/// Whether a child has the request.
bool Promises::is_in_flight(const Request& request) const {
  return !request.sent_to.empty() && !lives_.is_over(request.sent_to.back());
}

/// The longest time in which the bridge neither starts nor ends anything while somebody waits. All
/// its waits may follow each other. Empty if a server may take as long as it likes to start.
std::optional<Milliseconds> Promises::standstill_max() const {
  if (config_.startup_timeout == Milliseconds::zero()) return std::nullopt;
  const Milliseconds lists = limits::kToolsListWait + limits::kOtherListWait + limits::kRelistWait +
                             limits::kPauseAfterList;
  const Milliseconds doubt = limits::kOwnRestartListWait + limits::kOwnRestartWaitsMax;
  return lives_.end_max() + config_.startup_timeout + lists + doubt + config_.on_busy_wait +
         (config_.replayed_tools.empty() ? Milliseconds::zero() : limits::kReplayWait);
}

/// Whether the bridge must have answered by now. A child and a build may take longer than this.
bool Promises::is_late(const Request& request) const {
  if (request.is_doubled) return false;
  if (request.is_answered || request.is_cancelled) return true;
  if (request.is_opening && initialize_count_ == 1 && !is_mixed()) {
    return now_ > request.waits_since + config_.answer_within + kLate;
  }
  const auto wait = lives_.has_running_build() ? std::nullopt : standstill_max();
  const bool is_childs = is_in_flight(request) && request.answer_read == 0;
  return wait && !is_childs && now_ > std::max(request.waits_since, lives_.moved_at()) + *wait;
}

void Promises::check_requests() const {
  if (requests_.is_held()) return;
  std::size_t waiting_count = 0;
  for (const int mark : requests_.open_marks()) {
    const Request& request = *requests_.of(mark);
    if (request.is_cancelled || request.is_doubled) continue;
    if (request.sent_to.empty() && !request.is_builtin && !request.is_opening) ++waiting_count;
    // The bridge answers a batch together with the last of its requests.
    const auto& parts = said_.client[static_cast<std::size_t>(request.batch)].parts;
    const bool are_others_late = std::all_of(parts.begin(), parts.end(), [&](int part) {
      return requests_.of(part) == nullptr || is_late(*requests_.of(part));
    });
    if (!is_late(request) || !are_others_late) continue;
    throw Broken(fmt::format("request {} waits too long for its answer", request.said->id));
  }
  if (waiting_count > limits::kWaitingCountMax) throw Broken("more requests wait than may");
}

/// The bridge knows of every request that is owed an answer, at every moment.
void Promises::check_owed(const Bridge& bridge) const {
  std::size_t owed = controls_.owed_count();
  for (const int mark : requests_.open_marks()) {
    const Request& request = *requests_.of(mark);
    // Nobody outside can tell which answers of a batch the bridge knows already, or whether a
    // client that opens a session still waits for the answer to its probe.
    const bool is_unclear = request.is_doubled || (request.batch != 0 && !request.is_cancelled) ||
                            (initialize_count_ > 0 && request.said->method == "server/discover");
    if (is_unclear || requests_.is_held()) return;
    if (!request.is_cancelled && request.said->kind == ClientSaid::Kind::request) ++owed;
  }
  if (bridge.owed_count() == owed) return;
  throw Broken(fmt::format("{} are owed, the bridge counts {}", owed, bridge.owed_count()));
}

}  // namespace sitter::sim
