#include "core/bridge/conductor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/wire/reply.hpp"

namespace sitter {

using Level = order::Log::Level;
using Purpose = Look::Purpose;
using Reach = DeathReport::Reach;

Conductor::Conductor(BridgeConfig config, Now now)
    : config_(std::move(config)),
      now_(now),
      desk_(config_, Tools::names(config_), now_, out_),
      servers_(config_, ending_, now_, out_, desk_, [this] { return rebuilds_.replacement(); }),
      rebuilds_(config_, ending_, now_, out_, desk_, servers_),
      news_(config_, ending_, now_, out_, desk_, servers_, rebuilds_),
      tools_(config_, ending_, now_, out_, desk_, servers_, rebuilds_, news_) {}

void Conductor::handle(const Fact& fact, Now now) {
  if (ending_.is_over()) return;
  now_ = now;
  respelled_.clear();
  has_only_passed_ = false;
  std::visit([this](const auto& one) { on(one); }, fact);
  if (is_at_rest_ && has_only_passed_) {
    assert(nothing_to_settle());
    desk_.throttle().settle(desk_.requests().bytes(), now_);
  } else {
    settle();
  }
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
  Opening& opening = desk_.opening();
  Rebuilder& rebuilder = rebuilds_.rebuilder();
  Killer& killer = servers_.killer();
  row(desk_.answers().deadline(), [&] { desk_.answers().on_timeout(now_, out_); });
  row(rebuilder.build_deadline(), [&] { rebuilder.on_build_timeout(desk_.turn()); });
  row(rebuilds_.patience_end(), [this] { news_.answer_build_waiters(); });
  row(servers_.absence_patience_end(), [this] { news_.answer_undelivered(); });
  row(rebuilder.deadline(), [this] { rebuilds_.on_timeout(); });
  row(rebuilder.answer_due(), [this] { rebuilds_.on_answer_due(); });
  row(rebuilder.progress_deadline(), [this] { rebuilds_.tell_build_progress(); });
  row(rebuilds_.quiet_deadline(), in_settle);
  row(rebuilds_.absent_deadline(), in_settle);
  for (Child& child : servers_.generations()) {
    row(child.life.deadline(), [&] { child.life.on_timeout(now_, out_); });
    // A child that is on its way out is asked for nothing.
    if (child.life.is_up()) {
      row(child.handshake.deadline(), [&] { child.handshake.on_timeout(now_, out_); });
      row(child.own_restart.deadline(), [&] { servers_.on_own_restart_timeout(child); });
      row(child.debugger.deadline(), [&] { child.debugger.on_timeout(); });
      if (!child.debugger.holds()) {
        row(child.handshake.startup_deadline(), [&] { on_startup_timeout(child); });
        row(child.retires_at(), in_settle);
      }
    }
    // A row above may have taken the child down.
    if (child.life.is_up()) row(child.absence.again_at(), [&] { servers_.try_again(child); });
    row(rebuilds_.replaceable_at(child), in_settle);
    row(child.input.deadline(), [&] { on_deaf(child); });
  }
  row(opening.answer_by(), [this] { news_.answer_slow_opening(); });
  row(opening.answer_second_by(), [this] { news_.answer_second_openings(); });
  row(servers_.starts().restart_due(), [this] { servers_.restart(); });
  row(rebuilds_.files_deadline(), in_settle);
  row(rebuilds_.fresh_wait_end(), in_settle);
  row(desk_.throttle().deadline(), [this] { desk_.throttle().on_timeout(now_); });
  row(news_.relist_deadline(), [this] { news_.on_relist_timeout(); });
  row(desk_.streams().deadline(), [this] { servers_.on_streams_timeout(); });
  row(killer.deadline(), [&] { killer.on_timeout(now_, out_); });
  row(ending_.deadline(), [this] { on_ending_timeout(); });
}

Order* Conductor::poll_order() {
  Order* const order = out_.poll();
  const auto* const sent = std::get_if<order::SendToChild>(order);
  if (sent != nullptr) servers_.on_sent(sent->gen, sent->line);
  return order;
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
  if (!servers_.may_end(child)) return;
  child.handshake.on_startup_timeout();
  const std::string framing = servers_.framing_clause(child);
  const EndReason reason = !framing.empty() ? EndReason::wrote_rubbish
                           : child.handshake.state() == Handshake::State::opening
                               ? EndReason::opening_timed_out
                               : EndReason::said_nothing;
  const std::string why = !framing.empty()        ? framing
                          : child.absence.is_on() ? child.absence.why()
                                                  : child.activity;
  if (ClientRequest* const asked = desk_.asked_opening()) {
    news_.answer_opening_ourselves(*asked,
                                   end_clause({reason, {}, child.life.lifetime(now_), why}) +
                                       " (--startup-timeout sets the limit)",
                                   servers_.ring().last_words(child.gen()));
  }
  child.life.take_down(reason, why, servers_.ladder(), now_, out_);
}

void Conductor::on_deaf(Child& child) {
  child.input.on_timeout();
  out_.log(Level::warn, fmt::format("child {} has stopped reading its input", child.gen()));
}

void Conductor::on_ending_timeout() {
  ending_.on_timeout();
  if (ending_.state() == Ending::State::owed) {
    stop(servers_.ladder());
  } else if (ending_.is_stopping()) {
    servers_.generations().release(out_);
    rebuilds_.rebuilder().abandon_build(out_);
  }
}

bool Conductor::reads_client() {
  return desk_.throttle().reads() &&
         std::none_of(servers_.generations().begin(), servers_.generations().end(),
                      [](const Child& child) { return child.input.is_full(); });
}

/// The process of this child or build; null if it is over.
ChildLifecycle* Conductor::lifecycle(Generation gen) {
  return is_build(gen) ? rebuilds_.rebuilder().life(gen) : servers_.life(gen);
}

void Conductor::on(const fact::ClientClosedInput&) {
  if (!ending_.on_input_closed(now_)) return;
  news_.give_up_relist();
  desk_.streams().pass_ends(desk_.turn());
}

void Conductor::on(const fact::ClientClosedOutput&) { on(fact::StopSignalled{0}); }

void Conductor::on(const fact::StopSignalled& fact) {
  if (!ending_.hurry(fact.exit_code)) return;
  news_.give_up_relist();
  stop({Milliseconds::zero(), limits::kSignalKillAfter, limits::kSignalKillAfter});
  // The bridge no longer waits for any answer.
  for (const Child& child : servers_.generations()) {
    const ChildEnd end = servers_.end_for(EndReason::shut_down, &child);
    const DeathReport report = news_.report_of(end, {}, Reach::in_flight);
    for (ClientRequest* request : desk_.requests().all(ClientRequest::State::sent, child.gen())) {
      news_.fail(*request, report);
    }
  }
  ending_.abandon_at(now_.steady + limits::kSignalExitAfter);
}

void Conductor::on(const fact::ChildStarted& fact) {
  ChildLifecycle* const process = lifecycle(fact.gen);
  if (process == nullptr) return;
  process->on_started(fact, now_, out_);
  if (is_build(fact.gen)) {
    out_.log(Level::info, fmt::format("build {} started, pid {}", -fact.gen, fact.pid));
  } else {
    servers_.on_started(fact);
  }
}

void Conductor::on(const fact::ChildStartFailed& fact) {
  if (auto* const process = lifecycle(fact.gen)) process->on_start_failed(fact, now_);
  if (fact.again_after) news_.on_absent(fact.gen, fact.reason, *fact.again_after);
}

void Conductor::on(const fact::ChildErrorLine& fact) {
  if (!is_build(fact.gen)) {
    servers_.on(fact);
  } else if (lifecycle(fact.gen) != nullptr) {
    rebuilds_.on_build_line(fact);
  }
}

void Conductor::on(const fact::ChildOutputEnded& fact) {
  if (auto* const process = lifecycle(fact.gen))
    process->on_output_ended(servers_.ladder(), now_, out_);
}

void Conductor::on(const fact::ChildErrorEnded& fact) {
  if (auto* const process = lifecycle(fact.gen)) process->on_error_ended(out_);
}

void Conductor::on(const fact::ChildOutputMoved& fact) {
  if (auto* const process = lifecycle(fact.gen)) process->on_output_moved(now_);
}

void Conductor::on(const fact::ChildExited& fact) {
  servers_.on_left_exited(fact);
  if (auto* const process = lifecycle(fact.gen)) process->on_exited(fact.status, now_, out_);
}

void Conductor::on(const fact::ChildLost& fact) {
  if (auto* const process = lifecycle(fact.gen)) process->on_lost(fact, now_, out_);
}

void Conductor::on(const fact::UnitSignalled& fact) {
  if (auto* const process = lifecycle(fact.gen)) process->on_unit_signalled(fact, now_, out_);
}

void Conductor::on(const fact::OrphanEnded&) {
  for (Child& child : servers_.generations()) child.life.on_orphan_ended(out_);
  rebuilds_.rebuilder().on_orphan_ended(out_);
}

void Conductor::on(const fact::ChildInputFull& fact) {
  if (Child* const child = servers_.generations().find(fact.gen)) child->input.on_full(now_);
}

void Conductor::on(const fact::ChildInputMoved& fact) {
  if (Child* const child = servers_.generations().find(fact.gen)) child->input.on_moved(now_);
}

void Conductor::on(const fact::ChildInputDrained& fact) {
  if (Child* const child = servers_.generations().find(fact.gen)) child->input.on_drained();
}

void Conductor::on(const fact::ChildInputBroken& fact) {
  if (Child* const child = servers_.generations().find(fact.gen))
    child->life.on_input_broken(servers_.ladder(), now_, out_);
}

void Conductor::on(const fact::CommandFilesChecked& fact) {
  Starts& starts = servers_.starts();
  const bool is_for_mended = starts.on_checked() == Starts::Check::for_mended;
  if (!servers_.is_idle() || ending_.has_stopped()) return;
  const bool is_needed = desk_.needs_server();
  if (fact.changed && (is_needed || is_for_mended)) {
    servers_.start(servers_.traits().starts_here
                       ? "its files changed after a failed start"
                       : "another try, since " + end_clause(starts.last_failure()->end));
  } else if (is_needed && !is_for_mended) {
    const auto& failure = starts.last_failure();
    news_.on_start_failed(failure->end, failure->stderr_tail, true);
  }
}

void Conductor::on(const fact::BinaryInspected& fact) {
  news_.on_binary(fact.facts);
  if (fact.look.purpose == Purpose::notice) {
    news_.amend_notice();
  } else if (fact.look.purpose != Purpose::rebuild) {
    tools_.on(fact);
  } else if (rebuilds_.rebuilder().waits_for(Rebuilder::State::look)) {
    news_.finish_rebuild(rebuilds_.on_looked_at_new_child());
  }
}

void Conductor::on(const fact::ProcessSeen& fact) {
  Child* const child = servers_.generations().find(fact.gen);
  if (child == nullptr) return;
  child->debugger.on_seen(fact.debugger, now_);
  child->activity = fact.activity;
  if (!fact.debugger.empty() && servers_.killer().is_killing()) {
    servers_.killer().add_note(
        fmt::format("A debugger was attached to the server: {}.", fact.debugger));
  }
  if (!child->life.is_up() || !is_due(child->handshake.startup_deadline(), now_)) return;
  if (child->debugger.is_attached()) {
    // Once the debugger has detached, the server has the whole time again.
    servers_.expect_start(*child);
  } else {
    on_startup_timeout(*child);
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
    servers_.generations().settle(
        [&](Child& child) {
          advance(child);
          is_one_suspected = is_one_suspected || child.own_restart.is_suspected();
        },
        [this](Child dead) { on_over(std::move(dead)); });
    // A child that has answered its replayed calls also gets the calls that another child has
    // answered since. The child may have come to serve in the step before.
    servers_.catch_up();
    // A failed build ends its rebuild; a successful build lets it go on.
    if (rebuilds_.rebuilder().is_build_over()) on_build_over();
    // A rebuild that kills first waits until no child is left and no kill is on its way.
    servers_.advance_kill();
    if (auto report = rebuilds_.advance()) news_.finish_rebuild(*std::move(report));
    if (rebuilds_.rebuilder().take_hold_news()) news_.on_reload_held();
    // Requests do not wait for the code of a rebuild that has failed.
    if (Child* const serving = servers_.generations().serving()) release_waiting(*serving);
    // A server that was started anew behind the process of its child is another child, which must
    // be opened, unless a rebuild replaces it. The next round opens it.
    leads_on = is_one_suspected && take_own_restart();
    // Only now is it known whether a build has begun, which reads all files that have changed so
    // far, and whether a reload is over.
    if (rebuilds_.watch().is_on()) rebuilds_.note_reload();
    has_settled_files = is_due(rebuilds_.files_deadline(), now_);
    if (has_settled_files) rebuilds_.on_files_settled();
    // An ending session goes on when nothing is owed any more, or nothing runs any more. The steps
    // above may have answered the last request, or seen the last end.
    if (!ending_.is_none()) advance_ending();
    // A request starts a child, unless a step above has done so.
    servers_.start_if_due();
    rebuilds_.note_starts();
    // A start that waits for a busy file is over as soon as a step takes the child down.
  } while (has_settled_files || leads_on || servers_.generations().is_one_over());
  is_at_rest_ = is_at_rest();
  // Answered requests are out now, so their bytes no longer count.
  desk_.throttle().settle(desk_.requests().bytes(), now_);
}

/// Whether a request that is passed on, or the answer to a call, leaves nothing to settle. Each
/// would cost as much again as to pass it.
bool Conductor::is_at_rest() {
  const Generations& generations = servers_.generations();
  if (generations.begin() == generations.end() || !ending_.is_none() || rebuilds_.is_on()) {
    return false;
  }
  // A call that is to be repeated may wait for the end of a call of the client.
  if (servers_.replays().is_on()) return false;
  const Child& child = *generations.begin();
  return std::next(generations.begin()) == generations.end() && child.takes_requests() &&
         child.has_answered() && !child.absence.is_on() &&
         child.handshake.state() == Handshake::State::done &&
         desk_.requests().waiting_count() == 0 && !rebuilds_.files_deadline();
}

bool Conductor::nothing_to_settle() {
  const std::size_t before = out_.size();
  settle();
  return is_at_rest_ && out_.size() == before;
}

/// Takes everything down. Waiting requests are answered at once, and requests in flight when their
/// child is over.
void Conductor::stop(ChildLifecycle::Ladder ladder) {
  ending_.stop();
  servers_.starts().cancel_restart();
  servers_.take_back_process("the end of the session");
  servers_.generations().take_down_all(EndReason::shut_down, {}, ladder, now_, out_);
  rebuilds_.rebuilder().stop(ladder, desk_.turn());
  news_.answer_waiting(servers_.end_for(EndReason::shut_down), {});
}

void Conductor::advance_ending() {
  ClientRequests& requests = desk_.requests();
  if (ending_.state() == Ending::State::owed && requests.owed_to_client_count() == 0)
    stop(servers_.ladder());
  if (!ending_.is_stopping() || !servers_.generations().is_empty() ||
      rebuilds_.rebuilder().is_building())
    return;
  for (ClientRequest* request : requests.all(ClientRequest::State::ours)) {
    desk_.answer_error(*request, ErrorCode::internal_error, "mcp-sitter is ending");
  }
  desk_.streams().end_all(server_info_member(config_.sitter_version), desk_.turn());
  desk_.answers().output().flush(out_);
  out_.push(order::Exit{ending_.exit_code(), !ending_.is_hurried()});
  ending_.end();
}

}  // namespace sitter
