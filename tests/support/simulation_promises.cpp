#include "support/simulation_promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/bridge/ending.hpp"
#include "core/child/call_replay.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/child/own_restart.hpp"
#include "core/child/start_policy.hpp"
#include "core/client/client_facts.hpp"
#include "core/client/relist_wait.hpp"
#include "core/streams/streams.hpp"
#include "core/wire/message.hpp"
#include "sitter/limits.hpp"
#include "support/simulation_ids.hpp"

namespace sitter::sim {

using json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

Promises::Promises(const BridgeConfig& config, const Said& said, const Scene& scene)
    : config_(config),
      said_(said),
      scene_(scene),
      replays_(config_.replayed_tools),
      saves_(config_),
      restarts_(config_) {}

Promises::Life& Promises::life(Generation gen) {
  const auto found = lives_.find(gen);
  if (found == lives_.end()) throw Broken(fmt::format("there is no child {}", gen));
  return found->second;
}

/// The bridge or somebody else has just done something after which every wait begins anew.
void Promises::goes_on() {
  moved_at_ = now_;
  save_due_.reset();
  restart_due_.reset();
}

/// The longest time in which the bridge neither starts nor ends anything while somebody waits. All
/// its waits may follow each other. Empty if a server may take as long as it likes to start.
std::optional<Milliseconds> Promises::standstill_max() const {
  if (config_.startup_timeout == Milliseconds::zero()) return std::nullopt;
  const bool has_remote = std::any_of(lives_.begin(), lives_.end(), [](const auto& life) {
    return life.second.is_remote_runner && !life.second.is_over;
  });
  const Milliseconds ladder = 2 * config_.kill_grace + limits::kGiveUpAfterKill + limits::kDrain +
                              (has_remote ? limits::kRemoteTermGrace : Milliseconds::zero());
  const Milliseconds start = config_.startup_timeout + limits::kToolsListWait +
                             limits::kOtherListWait +
                             (replays_.are_there() ? limits::kReplayWait : Milliseconds::zero());
  const Milliseconds relist = limits::kRelistWait + limits::kPauseAfterList;
  const Milliseconds doubt = scene_.has_own_restarts
                                 ? limits::kOwnRestartListWait + limits::kOwnRestartWaitsMax
                                 : Milliseconds::zero();
  return ladder + start + config_.on_busy_wait + relist + doubt + kLate;
}

/// Whether the bridge may hold back lines to the client for a moment, because of progress or a
/// list.
bool Promises::may_be_closed() const {
  if (output_may_be_closed_until_ && now_ <= *output_may_be_closed_until_) return true;
  // The answer to a list request may stand in an array that is not complete yet.
  return !batches_.empty() && std::any_of(open_.begin(), open_.end(), [&](int mark) {
    const Request& request = requests_.at(mark);
    return request.batch != 0 && request.said->method.ends_with("/list");
  });
}

bool Promises::is_in_flight(const Request& request) const {
  return !request.sent_to.empty() && !lives_.at(request.sent_to.back()).is_over;
}

/// Whether the child reads its input, as far as this class can see.
bool Promises::listens(Generation gen) const {
  const Life& its_life = lives_.at(gen);
  return its_life.is_up && !its_life.is_input_closed && !its_life.full_since;
}

void Promises::on_client_closed() {
  if (!closed_at_) closed_at_ = now_;
}

void Promises::on_stop() {
  if (!stopped_at_) stopped_at_ = now_;
}

void Promises::on_child_started(Generation gen, bool is_remote_runner, bool can_be_killed) {
  Life& its_life = life(gen);
  its_life.is_up = true;
  its_life.is_remote_runner = is_remote_runner;
  its_life.can_be_killed = can_be_killed;
  its_life.started = now_;
  its_life.is_after_loss = has_lost_stateless_;
}

/// If no file has changed, the bridge may start no child. Then waiting requests are answered, and
/// waiting notifications are lost.
void Promises::on_files_checked(bool changed) {
  files_changed_ = changed;
  if (!changed) owed_notifications_.clear();
}

void Promises::on_start_failed(Generation gen) {
  owed_notifications_.clear();
  const bool was_candidate = is_candidate(gen);
  life(gen).is_over = true;
  if (gen == built_gen_) on_reload_failed(false);
  replays_.on_over(gen, false, now_);
  // The requests that have waited for this start fail with it.
  bystander_died_ = was_candidate;
  if (was_candidate) return;
  restarts_.on_end(now_, true);
  if (is_asked_) ++failures_in_row_;
  has_lost_stateless_ |= is_stateless_;
}

void Promises::on_start_postponed(Generation gen) {
  life(gen).starts_again_by = now_ + limits::kBusyFileInterval + kLate;
}

/// The bridge has taken down a child that was waiting for its file.
void Promises::forget_postponed(Life& its_life) {
  its_life.starts_again_by.reset();
  its_life.is_over = true;
  has_lost_stateless_ |= is_stateless_;
  owed_notifications_.clear();
  goes_on();
}

void Promises::on_child_line(Generation gen, const std::vector<int>& numbers) {
  Life& its_life = life(gen);
  if (its_life.is_over) return;
  if (!its_life.wrote_first_at) its_life.wrote_first_at = now_;
  for (const int number : numbers) {
    const ChildSaid& said = said_.child[static_cast<std::size_t>(number)];
    its_life.has_spoken |= !said.is_unreadable;
    read_order_[number] = static_cast<int>(read_order_.size()) + 1;
    if (said.question != 0) questions_.on_cancelled(said.question);
    if (said.kind == ChildSaid::Kind::progress) output_may_be_closed_until_ = now_ + kLate;
    its_life.has_answered |= said.kind == ChildSaid::Kind::stream_end && said.is_answer;
    if (Streams::Stream* const stream = streams_.of(said.mark); stream && said.is_refusal) {
      streams_.on_refused(*stream, gen);
    }
    if (Streams::Stream* const stream = streams_.find(said.id, true);
        stream && said.kind == ChildSaid::Kind::stream_end) {
      stream->has_ended |= stream->gen == gen;
    }
    if (said.kind != ChildSaid::Kind::result && said.kind != ChildSaid::Kind::error) continue;
    const bool has_version = said.text().find("\"protocolVersion\"") != std::string::npos;
    if (!its_life.is_open && said.kind == ChildSaid::Kind::result && !said.is_unreadable &&
        has_version && same_id(said.id, its_life.opening_id)) {
      its_life.is_open = true;
      its_life.opened_in = step_;
    } else if (requests_.contains(said.mark) && !said.is_unreadable &&
               !its_life.own_ids.contains(id_key(said.id)) &&
               !same_id(said.id, its_life.opening_id)) {
      its_life.has_answered = true;
    }
    if (!said.is_unreadable && its_life.is_up && !its_life.is_input_closed) {
      if (replays_.on_answered(gen, said.id)) {
        notices_.on_news();
        // A result that stands before this answer on the same line cannot tell the news yet.
        if (numbers.size() > 1) notices_.on_unread();
      }
    }
    if (same_id(said.id, its_life.tools_list_id)) {
      its_life.has_shown_era |= said.has_tools && said.has_result_type && !said.is_unreadable;
      its_life.has_refused_list |=
          said.kind == ChildSaid::Kind::error && !said.is_unreadable && !said.is_method_not_found;
      // The child may answer once more if nobody could read its first answer.
      if (!said.is_unreadable) its_life.tools_list_id.clear();
    }
    note_success(said);
    if (its_life.own_ids.contains(id_key(said.id))) {
      its_life.has_refused_own_list = said.is_unopened;
      if (said.is_unopened) its_life.refused_own_list_in = step_;
    }
    const auto found = requests_.find(said.mark);
    if (found == requests_.end()) continue;
    Request& request = found->second;
    const bool is_last_page = said.has_tools && !said.is_unreadable &&
                              said.text().find("nextCursor") == std::string::npos;
    const bool is_for_client =
        !request.is_answered && !request.is_cancelled && !request.is_doubled && request.batch == 0;
    if (scene_.needs_pause && is_last_page && is_for_client && !is_mixed() && !may_be_closed()) {
      listed_at_ = now_;
    }
    if (said.has_tools || request.is_doubled) output_may_be_closed_until_ = now_ + kLate;
    // If two requests have the same id, either answer may carry the notice.
    if (request.is_doubled) {
      its_life.owes_notice = false;
      forgive_remark();
    }
    // The answer to another request with the same id may have been taken for its own.
    if (said.is_unopened && request.is_doubled) request.refused_by = gen;
    // A second answer of a child may be taken for the answer to a later request with the same id.
    for (const int mark : open_) {
      Request& other = requests_.at(mark);
      if (request.is_answered && said.is_unreadable && other.key == request.key) {
        other.is_doubled = true;
      }
      const bool may_be_its = mark == said.mark || (other.is_doubled && other.key == request.key);
      if (said.is_unopened && may_be_its) other.refused_by = gen;
    }
    if (request.is_answered || request.is_cancelled || request.is_doubled || stopped_at_) continue;
    if (request.sent_to.empty() || request.sent_to.back() != gen || request.answer_read != 0) {
      continue;
    }
    // If a child is replaced or taken down during its opening, the bridge does not pass its refusal
    // on. The next child is opened instead, or the end of the child answers the client.
    const bool is_refusal = said.kind == ChildSaid::Kind::error || !has_version;
    const bool is_leaving = its_life.was_replaced || its_life.is_input_closed;
    if (request.is_opening && is_leaving && is_refusal) continue;
    request.answer_read = number;
    request.waits_since = now_;
    request.may_not_carry_notice = its_life.retired_at.has_value();
  }
}

void Promises::on_exited(Generation gen, const ExitStatus& status) {
  if (is_build(gen)) {
    builds_.at(gen).status = status;
    return;
  }
  Life& its_life = life(gen);
  its_life.has_exited = true;
  its_life.status = status;
  its_life.is_up = false;
}

void Promises::on_child_full(Generation gen) { life(gen).full_since = now_; }

void Promises::on_child_moved(Generation gen) {
  if (life(gen).full_since) life(gen).full_since = now_;
}

void Promises::on_child_drained(Generation gen) { life(gen).full_since.reset(); }

void Promises::on_start_child(Generation gen) {
  if (has_exited_ || stopped_at_) throw Broken("a start at the end");
  if (gen == last_gen_ && lives_[gen].starts_again_by) {
    lives_[gen].starts_again_by.reset();
    return;
  }
  for (auto& [other, its_life] : lives_) {
    if (its_life.starts_again_by) forget_postponed(its_life);
  }
  if (gen != last_gen_ + 1) throw Broken("generations are not counted one by one");
  const bool is_built = check_start_beside_others();
  bool is_asked_for = list_answered_;
  for (const int mark : open_) {
    const Request& request = requests_.at(mark);
    // If two requests have the same id, nobody outside can tell which of them is still open.
    is_asked_for |=
        request.is_doubled || (!request.is_cancelled && !request.is_builtin &&
                               !request.is_due_at_once && request.said->method != "ping");
  }
  // A client that knows no tool of the server can only call built-in tools. Such a call may start a
  // child if the files of the server have changed.
  const bool is_mended = std::exchange(was_builtin_called_, false) && files_changed_;
  const bool is_needed = is_asked_for || is_mended || streams_.is_waiting();
  const bool may_restart = restarts_.fault(now_, closed_at_.has_value()).empty();
  const bool is_from_start = is_built && config_.build_command.empty();
  const bool is_beside = is_another_up(gen);
  if (is_from_start && (!is_needed || is_beside) && (!may_restart || is_beside)) {
    check_reload_reason();
  }
  const bool is_restart = !is_built && !is_needed;
  if (is_restart) {
    restarts_.on_restart(now_, closed_at_.has_value());
    saves_.on_somebody();
  }
  // A kill in a batch stands beside requests that may have been answered before it.
  const auto kill = requests_.find(last_kill_);
  const bool is_kill_in_batch = kill != requests_.end() && kill->second.batch != 0;
  if (restarts_.is_killed() && !is_mended && !is_kill_in_batch && !is_built) {
    throw Broken("a start that nobody has asked for since sitter_kill");
  }
  // The start of such a child needs no request.
  if (is_built || is_restart || is_mended) ++requests_for_child_;
  if (++starts_ > 2 * requests_for_child_) throw Broken("more starts than requests account for");
  const bool is_early = now_ < last_start_ + limits::kStartInterval;
  if (failures_in_row_ >= limits::kFailedStartsFree && is_early && !files_changed_ && !is_built) {
    throw Broken("a start too early after several failed ones");
  }
  if (is_beside) replays_.on_overlap();
  on_child_ordered();
  files_changed_ = false;
  last_gen_ = gen;
  last_start_ = now_;
  // No child is started while a kill is on its way.
  for (auto& [other, its_life] : lives_) {
    if (!its_life.is_input_closed) its_life.was_meant_by_kill = false;
  }
  lives_[gen].was_meant_by_kill = is_kill_in_batch && !kill->second.is_answered;
  if (is_built) built_gen_ = gen;
}

void Promises::on_close_input(Generation gen) {
  if (must_close_input_ == gen) must_close_input_ = kNoGeneration;
  if (is_build(gen)) {
    on_close_build_input(gen);
    return;
  }
  Life& its_life = life(gen);
  goes_on();
  its_life.is_input_closed = true;
  its_life.closed_in = step_;
  its_life.was_followed = gen < last_gen_ && is_another_up(gen);
  its_life.was_replaced = !open_rebuilds().empty() || is_child_built_ ||
                          rebuild_cancelled_at_ == now_ || is_reload_on();
}

void Promises::on_release(Generation gen) {
  if (is_build(gen)) {
    on_release_build(gen);
    return;
  }
  owed_notifications_.clear();
  const bool was_candidate = is_candidate(gen);
  Life& its_life = life(gen);
  if (std::exchange(its_life.is_over, true)) throw Broken("a child is released twice");
  its_life.has_ended_late = is_another_up(gen);
  its_life.is_up = false;
  if (was_candidate || its_life.retired_at) {
    bystander_died_ = true;
  } else if (its_life.status && !its_life.is_input_closed && !its_life.was_meant_by_kill &&
             !its_life.has_spoken && is_asked_ && !is_mixed()) {
    ++failures_in_row_;
  } else {
    failures_in_row_ = 0;
  }
  if (gen == built_gen_) on_reload_failed(false);
  on_child_over(its_life, gen, was_candidate);
  has_lost_stateless_ |= is_stateless_;
  questions_.on_over(gen, now_ + kLate);
  for (const int mark : std::vector(open_)) {
    Request& request = requests_.at(mark);
    if (request.sent_to.empty() || request.sent_to.back() != gen) continue;
    if (request.is_cancelled) forget(request);
  }
}

void Promises::on_exit() {
  if (std::exchange(has_exited_, true)) throw Broken("the program ends twice");
  if (!stopped_at_ && !closed_at_) throw Broken("the program ends without a reason");
  wrong_unless_exit_.clear();
  check_counts();
  controls_.check_end();
  check_all_released();
}

void Promises::on_settled(const Bridge& bridge) {
  list_answered_ = false;
  if (has_exited_) return;
  if (!wrong_unless_exit_.empty()) throw Broken(wrong_unless_exit_);
  if (must_reach_child_ != 0) throw Broken("a line of the client was not passed on");
  if (!taken_back_.empty() && !may_be_closed()) {
    throw Broken("a stream was taken back from the child, and the client does not know");
  }
  for (auto& [gen, its_life] : lives_) {
    if (its_life.starts_again_by && now_ > *its_life.starts_again_by) forget_postponed(its_life);
  }
  check_rebuilds();
  replays_.check();
  if (const auto wait = standstill_max(); wait && running_build() == nullptr) {
    streams_.check(now_ - *wait - limits::kStreamAckWait, moved_at_);
  }
  check_requests();
  check_unasked();
  check_end(bridge);
}

void Promises::check_end(const Bridge& bridge) {
  const std::size_t owed =
      static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [&](int mark) {
        const Request& request = requests_.at(mark);
        return !request.is_cancelled && request.said->kind == ClientSaid::Kind::request;
      }));
  // A client that opens a session does not wait for the answer to its probe any more.
  const std::size_t probes =
      static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [&](int mark) {
        return is_asked_ && requests_.at(mark).said->method == "server/discover";
      }));
  // A control request is owed an answer, too.
  if (bridge.owed_count() < controls_.owed_count()) {
    throw Broken("a request from outside was dropped in silence");
  }
  const std::size_t counted = bridge.owed_count() - controls_.owed_count();
  const bool is_right = counted <= owed && counted + probes >= owed;
  // Nobody outside can tell which answers of a batch the bridge knows already.
  const bool has_doubles = std::any_of(open_.begin(), open_.end(), [&](int mark) {
    const Request& request = requests_.at(mark);
    return request.is_doubled || (request.batch != 0 && !request.is_cancelled);
  });
  if (!may_be_closed() && !has_doubles && !is_right) {
    std::string ids;
    for (const int mark : open_) ids += " " + requests_.at(mark).said->id;
    throw Broken(fmt::format("{} requests are open, and the bridge counts {}; open are:{}", owed,
                             counted, ids));
  }
  if (stopped_at_ && now_ > *stopped_at_ + Milliseconds(300)) {
    throw Broken("the program lives more than 300 ms after a signal");
  }
  if (!closed_at_) return;
  const Milliseconds rung = std::min(config_.kill_grace, limits::kShutdownRungMax);
  const Milliseconds last = 2 * rung + limits::kGiveUpAfterKill + limits::kDrain + kLate;
  if (now_ > *closed_at_ + limits::kOwedWait + last) throw Broken("the end takes too long");
  if (now_ == *closed_at_) owed_nothing_when_closed_ = owed == 0 && bridge.owed_count() == 0;
  const auto can_end = [](const auto& entry) {
    return entry.second.can_be_killed || entry.second.is_over;
  };
  const bool can_be_killed = std::all_of(lives_.begin(), lives_.end(), can_end) &&
                             std::all_of(builds_.begin(), builds_.end(), can_end);
  if (owed_nothing_when_closed_ && can_be_killed && now_ > *closed_at_ + Milliseconds(1500)) {
    throw Broken("the end takes too long although nothing is owed");
  }
}

void Promises::on_timeout_handled(std::optional<Instant> next) {
  // Without a grace, SIGKILL follows SIGTERM at the same moment, but not in the same step.
  const bool may_be_now = config_.kill_grace == Milliseconds::zero();
  if (next && (may_be_now ? *next < now_ : *next <= now_)) {
    throw Broken("a timeout that was handled is still due");
  }
}

}  // namespace sitter::sim
