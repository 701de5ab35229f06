#include "core/rebuild/rebuilder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sitter {
namespace {

/// How many bytes of a build's output line are shown while the build runs.
constexpr std::size_t kBuildProgressLineMax = 200;

}  // namespace

using Level = order::Log::Level;
using Outcome = BuildResult::Outcome;

void Rebuilder::call(RebuildCaller caller, const RebuildArguments& arguments, const Turn& turn) {
  caller.mode = arguments.mode;
  const bool is_new = !rebuild_;
  // What is built already may miss a change.
  const bool begins = is_new || is_held();
  const bool is_free = begins || !rebuild_->is_wanted();
  if (is_new) rebuild_.emplace(turn.now.steady);
  if (!is_new && misses_call()) {
    rebuild_->follow_with({{}, arguments}).callers.push_back(caller);
    return;
  }
  if (!is_free && has_begun()) {
    caller.joined_after = build_->age(turn.now);
    if (rebuild_->state == State::build) {
      caller.deadline = turn.now.steady + arguments.timeout;
    }
  }
  rebuild_->callers.push_back(caller);
  if (!is_free) return;
  rebuild_->cause.clear();
  rebuild_->mode = arguments.mode;
  if (begins) begin_anew(turn);
}

void Rebuilder::reload(const Reload& wanted, const std::optional<RebuildCaller>& caller,
                       bool may_replace, const Turn& turn) {
  const auto add_to = [&](auto& rebuild) {
    if (caller) {
      rebuild.callers.push_back(*caller);
      rebuild.callers.back().mode = wanted.how.mode;
    } else {
      rebuild.is_unattended = true;
    }
  };
  const bool is_new = !rebuild_;
  if (is_new) rebuild_.emplace(turn.now.steady);
  const bool begins_anew = is_new || !rebuild_->is_wanted() || may_replace;
  if (!begins_anew && has_begun()) {
    // The running rebuild may not include the latest changes.
    add_to(rebuild_->follow_with(wanted));
    return;
  }
  add_to(*rebuild_);
  if (!caller) rebuild_->timeout = wanted.how.timeout;
  if (!begins_anew) return;
  rebuild_->cause = wanted.cause;
  rebuild_->mode = wanted.how.mode;
  // A cancelled rebuild begins anew when its build is over.
  if (rebuild_->state == State::cancelled) return;
  rebuild_->gen = kNoGeneration;
  begin_anew(turn);
}

void Rebuilder::restart(RebuildCaller caller, const Turn& turn) {
  const bool is_new = !rebuild_;
  if (is_new) rebuild_.emplace(turn.now.steady);
  if (!rebuild_->is_wanted()) rebuild_->builds = false;
  rebuild_->callers.push_back(std::move(caller));
  if (is_new) begin_anew(turn);
}

void Rebuilder::build_for_requests(std::string cause, const Turn& turn) {
  rebuild_.emplace(turn.now.steady);
  rebuild_->is_for_requests = true;
  rebuild_->timeout = RebuildArguments().timeout;
  rebuild_->cause = std::move(cause);
  begin_anew(turn);
}

void Rebuilder::follow(const PendingRebuild& before, const Turn& turn) {
  const Reload& wanted = before.next->wanted;
  // A request that waits now has waited through both rebuilds.
  rebuild_.emplace(before.begun);
  rebuild_->cause = wanted.cause;
  rebuild_->mode = wanted.how.mode;
  rebuild_->join(*before.next);
  begin_anew(turn);
}

/// Whether the rebuild may already miss a change that is made now.
bool Rebuilder::has_begun() const {
  switch (rebuild_->state) {
    case State::quiet:
    case State::no_children:
    // A cancelled build is run again for the calls that have come since.
    case State::cancelled:
      return false;
    case State::room:
      return options_.has_build;
    case State::build:
    case State::new_child:
    case State::look:
      break;
  }
  return true;
}

/// Whether the rebuild brings nothing to a call that comes now: it was begun without a build, or
/// its build has reached the limit of all its callers, and is being stopped.
bool Rebuilder::misses_call() const {
  return (options_.has_build && !rebuild_->builds) ||
         (rebuild_->state == State::build && build_->is_stopped());
}

void Rebuilder::begin_anew(const Turn& turn) {
  rebuild_->held_by.clear();
  // This rebuild reads all changes so far, so it also serves the calls that waited for the next.
  if (const auto next = std::exchange(rebuild_->next, std::nullopt)) rebuild_->join(*next);
  if (rebuild_->mode == RebuildMode::kill_first) {
    rebuild_->state = State::quiet;
    rebuild_->quiet_until = turn.now.steady + options_.busy_wait;
  } else {
    start_build(turn);
  }
}

/// Starts the build. If nothing is built, goes on to what follows the build.
void Rebuilder::start_build(const Turn& turn) {
  if (!options_.has_build || !rebuild_->builds) {
    rebuild_->state = State::room;
    return;
  }
  rebuild_->state = State::build;
  if (rebuild_->is_wanted_without_caller()) {
    rebuild_->unattended_until = turn.now.steady + rebuild_->timeout;
  }
  for (RebuildCaller& caller : rebuild_->callers) {
    caller.deadline = turn.now.steady + caller.timeout;
  }
  build_.emplace(--last_gen_, turn.now, options_.end_words);
  has_started_ = true;
  has_progress_ = false;
  turn.orders.push(order::StartBuild{build_->life.gen()});
}

void Rebuilder::stop_build(Outcome outcome, const Turn& turn) {
  build_->stop_for(outcome);
  build_->life.take_down(EndReason::shut_down, {},
                         {Milliseconds::zero(), options_.kill_grace, options_.kill_grace}, turn.now,
                         turn.orders);
}

std::vector<RebuildCaller> Rebuilder::hold(const std::string& debugger) {
  rebuild_->held_by = debugger;
  if (debugger.empty()) return {};
  rebuild_->is_unattended = true;
  return std::exchange(rebuild_->callers, {});
}

void Rebuilder::on_quiet() {
  rebuild_->held_by.clear();
  rebuild_->quiet_until.reset();
  rebuild_->state = State::no_children;
}

void Rebuilder::on_no_children(const Turn& turn) { start_build(turn); }

void Rebuilder::on_started(Generation gen) {
  rebuild_->held_by.clear();
  rebuild_->quiet_until.reset();
  rebuild_->gen = gen;
  rebuild_->state = State::new_child;
}

void Rebuilder::on_served() { rebuild_->state = State::look; }

bool Rebuilder::leave(RequestHandle request) { return rebuild_ && rebuild_->leave(request); }

bool Rebuilder::leave_requests() {
  return std::exchange(rebuild_->is_for_requests, false) && !rebuild_->is_wanted();
}

std::vector<RebuildCaller> Rebuilder::leave_to_client() { return rebuild_->leave_to_client(); }

bool Rebuilder::is_unwanted() const {
  return !rebuild_->is_wanted() && rebuild_->state != State::cancelled;
}

bool Rebuilder::cancel_build(const Turn& turn) {
  if (!waits_for(State::build) && !waits_for(State::cancelled)) return false;
  rebuild_->state = State::cancelled;
  rebuild_->clear_deadlines();
  has_progress_ = false;
  stop_build(Outcome::stopped, turn);
  return true;
}

PendingRebuild Rebuilder::take() { return *std::exchange(rebuild_, std::nullopt); }

void Rebuilder::on_line(const fact::ChildErrorLine& fact) {
  build_->add(fact.line, fact.bytes_cut);
  // A call that came after the build was cancelled waits for the next build, which counts its lines
  // anew.
  if (rebuild_->state != State::cancelled) has_progress_ = true;
}

std::string Rebuilder::newest_line() const { return build_->last_line(kBuildProgressLineMax); }

std::optional<Rebuilder::Progress> Rebuilder::take_progress(Now now) {
  if (!has_progress_ || next_progress_ > now.steady) return std::nullopt;
  has_progress_ = false;
  next_progress_ = now.steady + limits::kBuildProgressInterval;
  return Progress{newest_line(), build_->line_count()};
}

bool Rebuilder::is_build_over() const { return is_building() && build_->life.is_over(); }

Rebuilder::Next Rebuilder::on_build_over(bool is_ending, const Turn& turn) {
  build_->finish(turn.now);
  has_progress_ = false;
  const BuildResult& result = last_result_.emplace(*build_->result());
  const bool is_good = result.outcome == Outcome::succeeded;
  turn.log(is_good ? Level::info : Level::warn, build_clause(result));
  rebuild_->clear_deadlines();
  if (rebuild_->state == State::cancelled) {
    if (!rebuild_->is_wanted() || is_ending) return Next::is_given_up;
    begin_anew(turn);
  } else if (is_good) {
    rebuild_->state = State::room;
  } else {
    return Next::has_failed;
  }
  return Next::goes_on;
}

std::vector<RebuildCaller> Rebuilder::on_timeout(const Turn& turn) {
  const auto is_out = [&](const RebuildCaller& caller) {
    return is_due(caller.deadline, turn.now);
  };
  auto& callers = rebuild_->callers;
  const bool is_unattended_out = is_due(rebuild_->unattended_until, turn.now);
  if (!is_unattended_out && std::none_of(callers.begin(), callers.end(), is_out)) return {};
  const bool is_wanted = (rebuild_->is_wanted_without_caller() && !is_unattended_out) ||
                         !std::all_of(callers.begin(), callers.end(), is_out);
  if (!is_wanted) {
    rebuild_->clear_deadlines();
    stop_build(Outcome::timed_out, turn);
    return {};
  }
  if (is_unattended_out) {
    rebuild_->is_unattended = false;
    rebuild_->is_for_requests = false;
    rebuild_->unattended_until.reset();
  }
  return take_if(callers, is_out);
}

std::optional<Instant> Rebuilder::deadline() const {
  return rebuild_ ? rebuild_->build_deadline() : std::nullopt;
}

std::optional<Instant> Rebuilder::progress_deadline() const {
  return has_progress_ ? std::optional(next_progress_) : std::nullopt;
}

std::optional<Instant> Rebuilder::quiet_deadline() const {
  return rebuild_ ? rebuild_->quiet_until : std::nullopt;
}

void Rebuilder::on_build_timeout(const Turn& turn) {
  build_->life.on_timeout(turn.now, turn.orders);
}

std::optional<Instant> Rebuilder::build_deadline() const {
  return is_building() ? build_->life.deadline() : std::nullopt;
}

void Rebuilder::stop(ChildLifecycle::Ladder ladder, const Turn& turn) {
  if (is_building()) {
    build_->stop_for(Outcome::stopped);
    build_->life.take_down(EndReason::shut_down, {}, ladder, turn.now, turn.orders);
  }
  if (rebuild_) rebuild_->clear_deadlines();
}

void Rebuilder::abandon_build(Orders& out) {
  if (is_building()) out.push(order::ReleaseChild{build_->life.gen()});
  build_.reset();
}

ChildLifecycle* Rebuilder::life(Generation gen) {
  return is_building() && build_->life.gen() == gen ? &build_->life : nullptr;
}

void Rebuilder::on_orphan_ended(Orders& out) {
  if (is_building()) build_->life.on_orphan_ended(out);
}

}  // namespace sitter
