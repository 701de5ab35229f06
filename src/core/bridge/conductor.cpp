#include "core/bridge/conductor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/base/text.hpp"
#include "core/bridge/followers.hpp"
#include "core/child/child_requests.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/replays.hpp"
#include "core/child/starts.hpp"
#include "core/client/in_flight_throttle.hpp"
#include "core/client/opening.hpp"
#include "core/client/relist_wait.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/rebuild/watch.hpp"
#include "core/report/catalogs.hpp"
#include "core/report/lints.hpp"
#include "core/report/notices.hpp"
#include "core/report/old_code.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;

Conductor::Conductor(BridgeConfig config, Now now)
    : config_(std::move(config)),
      begun_(now),
      now_(now),
      requests_(config_.url.empty() ? ClientRequests::Room()
                                    : ClientRequests::Room{limits::kHttpWaitingCountMax,
                                                           limits::kHttpWaitingBytesMax}),
      ids_(config_.seed),
      names_(!config_.build_command.empty(), config_.tool_names, config_.tools, config_.kind),
      ring_(config_.stderr_lines),
      opening_(std::make_unique<Opening>()),
      throttle_(std::make_unique<InFlightThrottle>()),
      child_requests_(std::make_unique<ChildRequests>()),
      starts_(std::make_unique<Starts>(config_.restarts, config_.restarts_max)),
      replays_(std::make_unique<Replays>(config_.replayed_tools)),
      killer_(std::make_unique<Killer>(config_.kill_grace)),
      history_(std::make_unique<History>()),
      rebuilder_(std::make_unique<Rebuilder>(
          Rebuilder::Options{!config_.build_command.empty(), config_.on_busy_wait,
                             config_.kill_grace, !config_.url.empty()})),
      watch_(std::make_unique<Watch>(
          Watch::Options{config_.watches(), !config_.build_command.empty(), config_.debounce})),
      catalogs_(std::make_unique<Catalogs>()),
      lints_(std::make_unique<Lints>(config_.lints)),
      notices_(std::make_unique<Notices>()),
      old_code_(std::make_unique<OldCode>(config_.writes_notices && !config_.watches())),
      relist_(std::make_unique<RelistWait>()),
      followers_(std::make_unique<Followers>()) {
  if (config_.call_tool == BridgeConfig::CallTool::on) names_.offer(Builtin::call);
}

Conductor::~Conductor() = default;

void Conductor::handle(const Fact& fact, Now now) {
  if (ending_.is_over()) return;
  now_ = now;
  std::visit([this](const auto& one) { on(one); }, fact);
  settle();
  for (std::size_t i = 0; i < parts_.size() && !ending_.is_over(); ++i) {
    on_part(parts_[i]);
    settle();
  }
  parts_.clear();
}

/// All deadlines, in the order in which they fire, each with its handler. The handler clears or
/// postpones the deadline; for `in_settle`, `settle()` does that.
template <class Row>
void Conductor::each_deadline(Row row) {
  const auto in_settle = [] {};
  row(answers_.deadline(), [this] { answers_.on_timeout(now_, out_); });
  row(rebuilder_->build_deadline(), [this] { rebuilder_->on_build_timeout(turn()); });
  row(patience_end(), [this] { answer_patient_requests(); });
  row(absence_patience_end(), [this] { answer_undelivered(); });
  row(rebuilder_->deadline(), [this] { on_rebuild_timeout(); });
  row(rebuilder_->progress_deadline(), [this] { tell_build_progress(); });
  row(rebuilder_->quiet_deadline(), in_settle);
  for (Child& child : generations_) {
    row(child.life.deadline(), [&] { child.life.on_timeout(now_, out_); });
    // A child that is on its way out is asked for nothing.
    if (child.life.is_up()) {
      row(child.handshake.deadline(), [&] { child.handshake.on_timeout(now_, out_); });
      row(child.handshake.startup_deadline(), [&] { on_startup_timeout(child); });
      row(child.own_restart.deadline(), [&] { on_own_restart_timeout(child); });
      row(child.retires_at(), in_settle);
    }
    if (child.life.is_up()) row(child.absence.again_at(), [&] { try_again(child); });
    row(replaceable_at(child), in_settle);
    row(child.input.deadline(), [&] { on_deaf(child); });
  }
  row(opening_->answer_by(), [this] { answer_slow_opening(); });
  row(opening_->answer_second_by(), [this] { answer_second_openings(); });
  row(starts_->restart_due(), [this] { restart(); });
  row(watch_->deadline(), in_settle);
  row(throttle_->deadline(), [this] { throttle_->on_timeout(now_); });
  row(relist_->deadline(), [this] {
    relist_->on_timeout(now_);
    release_held();
  });
  row(streams_.deadline(), [this] { on_streams_timeout(); });
  row(killer_->deadline(), [this] { killer_->on_timeout(now_, out_); });
  row(ending_.deadline(), [this] { on_ending_timeout(); });
}

void Conductor::handle_timeout(Now now) {
  if (ending_.is_over()) return;
  now_ = now;
  each_deadline([now](std::optional<Instant> deadline, const auto& fire) {
    if (is_due(deadline, now)) fire();
  });
  settle();
}

std::optional<Instant> Conductor::next_timeout() {
  if (ending_.is_over()) return std::nullopt;
  std::optional<Instant> first;
  each_deadline([&](std::optional<Instant> deadline, const auto&) { earlier(first, deadline); });
  return first;
}

void Conductor::on_startup_timeout(Child& child) {
  child.handshake.on_startup_timeout();
  const EndReason reason = child.handshake.state() == Handshake::State::opening
                               ? EndReason::opening_timed_out
                               : EndReason::said_nothing;
  const std::string why = child.absence.is_on() ? child.absence.why() : std::string();
  if (ClientRequest* const asked = opening()) {
    answer_opening_ourselves(*asked,
                             end_clause({reason, {}, child.life.lifetime(now_), why}) +
                                 " (--startup-timeout sets the limit)",
                             ring_.tail(child.gen()));
  }
  child.life.take_down(reason, why, ladder(), now_, out_);
}

void Conductor::on_deaf(Child& child) {
  child.input.on_timeout();
  out_.log(Level::warn, fmt::format("child {} has stopped reading its input", child.gen()));
}

void Conductor::on_ending_timeout() {
  ending_.on_timeout();
  if (ending_.state() == Ending::State::owed) {
    stop(ladder());
  } else if (ending_.is_stopping()) {
    generations_.release(out_);
    rebuilder_->abandon_build(out_);
  }
}

bool Conductor::reads_client() const {
  return throttle_->reads() &&
         std::none_of(generations_.begin(), generations_.end(),
                      [](const Child& child) { return child.input.is_full(); });
}

/// The process of this child or build; null if it is over.
ChildLifecycle* Conductor::hears_life(Generation gen) {
  if (is_build(gen)) return rebuilder_->life(gen);
  Child* const child = generations_.find(gen);
  return child == nullptr ? nullptr : &child->life;
}

/// The end of a child that is being taken down now.
ChildEnd Conductor::end_for(EndReason reason, const Child* child) const {
  ChildEnd end{reason, {}, {}, {}};
  end.is_unseen = true;
  end.had_no_child = child == nullptr;
  end.is_foreign = is_foreign(child);
  if (child != nullptr) end.lifetime = child->life.lifetime(now_);
  return end;
}

void Conductor::on(const fact::ClientClosedInput&) {
  if (!ending_.on_input_closed(now_)) return;
  relist_->give_up();
  release_held();
  streams_.pass_ends(turn());
}

void Conductor::on(const fact::ClientClosedOutput&) { on(fact::StopSignalled{0}); }

void Conductor::on(const fact::StopSignalled& fact) {
  if (!ending_.hurry(fact.exit_code)) return;
  relist_->give_up();
  release_held();
  stop({Milliseconds::zero(), limits::kSignalKillAfter, limits::kSignalKillAfter});
  // The bridge no longer waits for any answer.
  for (const Child& child : generations_) {
    const ChildEnd end = end_for(EndReason::shut_down, &child);
    const DeathReport report = report_of(end, {}, Reach::in_flight);
    for (ClientRequest* request : requests_.all(ClientRequest::State::sent, child.gen())) {
      fail(*request, report);
    }
  }
  ending_.abandon_at(now_.steady + limits::kSignalExitAfter);
}

void Conductor::on(const fact::ChildStarted& fact) {
  ChildLifecycle* const life = hears_life(fact.gen);
  if (life == nullptr) return;
  if (!is_build(fact.gen)) left_process_ = kNoGeneration;
  life->on_started(fact, now_, out_);
  out_.log(Level::info,
           fact.pid == 0 && is_tool()
               ? fmt::format("child {} is a description of {}", fact.gen, config_.command)
           : fact.pid == 0
               ? fmt::format("child {} is reached at {}", fact.gen, config_.url)
               : fmt::format("{} {} started, pid {}", is_build(fact.gen) ? "build" : "child",
                             fact.gen, fact.pid));
  Child* const child = generations_.find(fact.gen);
  if (child == nullptr) return;
  child->absence.on_try();
  if (generations_.is_candidate(*child)) {
    child->stderr_apart.emplace(config_.stderr_lines);
  } else {
    ring_.child_started(fact.gen, fact.pid);
  }
}

void Conductor::on(const fact::ChildStartFailed& fact) {
  if (auto* const life = hears_life(fact.gen)) life->on_start_failed(fact, now_);
  if (fact.again_after) on_absent(fact.gen, fact.reason, *fact.again_after);
}

void Conductor::on(const fact::ChildErrorLine& fact) {
  if (hears_life(fact.gen) == nullptr && fact.gen != left_process_) return;
  if (is_build(fact.gen)) {
    on_build_line(fact);
    return;
  }
  Child* const child = generations_.find(fact.gen);
  (child == nullptr ? ring_ : ring_of(*child)).add(fact.gen, fact.line, fact.bytes_cut);
  followers_->tell(fact.line, out_);
}

StderrRing& Conductor::ring_of(Child& child) {
  return child.stderr_apart ? *child.stderr_apart : ring_;
}

void Conductor::on(const fact::ChildOutputEnded& fact) {
  if (auto* const life = hears_life(fact.gen)) life->on_output_ended(ladder(), now_, out_);
}

void Conductor::on(const fact::ChildErrorEnded& fact) {
  if (auto* const life = hears_life(fact.gen)) life->on_error_ended(out_);
}

void Conductor::on(const fact::ChildExited& fact) {
  if (fact.gen == left_process_) {
    left_process_ = kNoGeneration;
    history_->on_left_process_over(fact.gen, fact.status, ring_.tail(fact.gen), now_.wall);
  }
  if (auto* const life = hears_life(fact.gen)) life->on_exited(fact.status, now_, out_);
}

void Conductor::on(const fact::ChildLost& fact) {
  if (auto* const life = hears_life(fact.gen)) life->on_lost(fact, now_, out_);
}

void Conductor::on(const fact::UnitSignalled& fact) {
  if (auto* const life = hears_life(fact.gen)) life->on_unit_signalled(fact, now_, out_);
}

void Conductor::on(const fact::OrphanEnded&) {
  for (Child& child : generations_) child.life.on_orphan_ended(out_);
  rebuilder_->on_orphan_ended(out_);
}

void Conductor::on(const fact::ChildInputFull& fact) {
  if (Child* const child = generations_.find(fact.gen)) child->input.on_full(now_);
}

void Conductor::on(const fact::ChildInputMoved& fact) {
  if (Child* const child = generations_.find(fact.gen)) child->input.on_moved(now_);
}

void Conductor::on(const fact::ChildInputDrained& fact) {
  if (Child* const child = generations_.find(fact.gen)) child->input.on_drained();
}

void Conductor::on(const fact::ChildInputBroken& fact) {
  if (Child* const child = generations_.find(fact.gen))
    child->life.on_input_broken(ladder(), now_, out_);
}

void Conductor::on(const fact::CommandFilesChecked& fact) {
  const bool is_for_mended = starts_->on_checked() == Starts::Check::for_mended;
  if (!is_idle() || ending_.has_stopped()) return;
  if (fact.changed && (needs_child() || is_for_mended)) {
    start(config_.kind != ServerKind::elsewhere
              ? "its files changed after a failed start"
              : "another try, since " + end_clause(starts_->last_failure()->end));
  } else if (needs_child() && !is_for_mended) {
    const auto& failure = starts_->last_failure();
    on_start_failed(failure->end, failure->stderr_tail, true);
  }
}

/// The order of the steps matters, because later steps ask what earlier steps have changed. A step
/// that leaves something for an earlier step to do leads to another pass.
void Conductor::settle() {
  bool has_settled_files = false;
  bool leads_on = false;
  do {
    // First the ends of children are handled, then the next child serves, then waiting work goes
    // on.
    bool is_one_suspected = false;
    generations_.settle(
        [&](Child& child) {
          advance(child);
          is_one_suspected = is_one_suspected || child.own_restart.is_suspected();
        },
        [this](Child dead) { on_over(std::move(dead)); });
    // A child that has answered its replayed calls also gets the calls that another child has
    // answered since. The child may have come to serve in the step before.
    if (!replays_->is_empty()) {
      for (Child& child : generations_) catch_up(child);
    }
    // A failed build ends its rebuild; a successful build lets it go on.
    if (rebuilder_->is_build_over()) on_build_over();
    // A rebuild that kills first waits until no child is left and no kill is on its way.
    if (generations_.is_empty() && killer_->on_children_over(out_)) inspect(Purpose::kill);
    if (rebuilder_->is_on()) advance_rebuild();
    // A server that was started anew behind the process of its child is another child, which must
    // be opened, unless a rebuild replaces it. The next round opens it.
    leads_on = is_one_suspected && take_own_restarts();
    // Only now is it known whether a build has begun, which reads all files that have changed so
    // far, and whether a reload is over.
    if (watch_->is_on()) note_reload();
    has_settled_files = is_due(watch_->deadline(), now_);
    if (has_settled_files) on_files_settled();
    // An ending session goes on when nothing is owed any more, or nothing runs any more. The steps
    // above may have answered the last request, or seen the last end.
    if (!ending_.is_none()) advance_ending();
    // A request starts a child, unless a step above has done so.
    start_if_due();
    // A start that waits for a busy file is over as soon as a step takes the child down.
  } while (has_settled_files || leads_on || generations_.is_one_over());
  // Answered requests are out now, so their bytes no longer count.
  throttle_->settle(requests_.bytes(), now_);
}

ChildLifecycle::Ladder Conductor::ladder() const {
  ChildLifecycle::Ladder ladder = ending_.ladder(config_.kill_grace);
  // A tool has no stdin of its own to close, so its commands are ended at once.
  if (is_tool()) ladder.close = Milliseconds::zero();
  return ladder;
}

/// Takes everything down. Waiting requests are answered at once, and requests in flight when their
/// child is over.
void Conductor::stop(ChildLifecycle::Ladder ladder) {
  ending_.stop();
  starts_->cancel_restart();
  take_back_process("the end of the session");
  generations_.take_down_all(EndReason::shut_down, {}, ladder, now_, out_);
  rebuilder_->stop(ladder, turn());
  const ChildEnd end = end_for(EndReason::shut_down);
  if (ClientRequest* const asked = opening()) answer_opening_ourselves(*asked, end_clause(end));
  fail_waiting(report_of(end, {}, Reach::not_delivered));
}

void Conductor::advance_ending() {
  if (ending_.state() == Ending::State::owed && requests_.owed_to_client_count() == 0)
    stop(ladder());
  if (!ending_.is_stopping() || !generations_.is_empty() || rebuilder_->is_building()) return;
  for (ClientRequest* request : requests_.all(ClientRequest::State::ours)) {
    answer_error(*request, ErrorCode::internal_error, "mcp-sitter is ending");
  }
  streams_.end_all(server_info_member(config_.sitter_version), turn());
  answers_.output().flush(out_);
  out_.push(order::Exit{ending_.exit_code(), !ending_.is_hurried()});
  ending_.end();
}

}  // namespace sitter
