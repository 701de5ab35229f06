#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/replays.hpp"
#include "core/child/starts.hpp"
#include "core/client/opening.hpp"
#include "core/client/relist_wait.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/rebuild/watch.hpp"
#include "core/report/catalogs.hpp"
#include "core/report/lints.hpp"
#include "core/report/notices.hpp"
#include "core/wire/method.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Lists = Child::Lists;
using Reach = DeathReport::Reach;
using Role = Child::Role;

bool Conductor::needs_child() const {
  return opening() != nullptr || requests_.first_waiting_request() != nullptr ||
         streams_.is_waiting();
}

/// Whether no child but a retiring one is there, and nothing else is on its way that ends or starts
/// a child.
bool Conductor::is_idle() const {
  return !generations_.has_any() && !killer_->is_killing() && !rebuilder_->is_on();
}

void Conductor::start_if_due() {
  if (!is_idle() || starts_->is_checking() || ending_.has_stopped() || !needs_child()) return;
  if (starts_->may_start_now(now_)) {
    start("a request");
  } else {
    starts_->check_files(Starts::Check::for_request, out_);
  }
}

/// Gives the child the calls that are made again before anything else is asked of it.
void Conductor::replay_first(Child& child) {
  if (child.waits_for_use()) {
    for (const ReplayedCall& call : replays_->missed(child.calls_made)) {
      notices_->forget_replay_failures(call.tool);
      notices_->add_replay_failure(
          fmt::format("{}: not called before this call, because the server has restarted itself {} "
                      "times in a row; perhaps {} makes it restart",
                      call.tool, child.own_restart.unused_in_row(), call.tool));
    }
    return;
  }
  std::vector<ReplayedCall> calls = replays_->all(child.calls_made);
  // What has failed at the child before is called again.
  for (const ReplayedCall& call : calls) notices_->forget_replay_failures(call.tool);
  child.handshake.replay_first(std::move(calls));
}

/// Makes the calls that the child has missed, unless the client has called the same tool since.
void Conductor::catch_up(Child& child) {
  if (!child.life.is_up() || child.is_retiring() || child.waits_for_use()) return;
  for (ReplayedCall& call : replays_->missed(child.calls_made)) {
    if (!child.handshake.may_call_again()) return;
    const auto sent = requests_.all(ClientRequest::State::sent, child.gen());
    const bool is_outdated =
        std::any_of(sent.begin(), sent.end(), [&](const ClientRequest* request) {
          return request->tool == call.tool && request->order > call.order;
        });
    if (is_outdated) continue;
    Replays::mark(call, child.calls_made);
    child.handshake.call_again(std::move(call), now_, out_);
  }
}

void Conductor::restart_later(const ChildEnd& end) {
  if (!starts_->on_end(end, now_)) return;
  out_.log(Level::warn, fmt::format("the server was started again {} times in a row without a "
                                    "minute of running; the next request starts it",
                                    starts_->restarts().max()));
}

/// Starts the server without a request (`--restart`), unless something else starts it already.
void Conductor::restart() {
  if (!is_idle() || !ending_.is_none()) {
    starts_->cancel_restart();
    return;
  }
  out_.log(Level::info, fmt::format("the server is started again (restart {} of {} in a row)",
                                    starts_->restarts().count() + 1, starts_->restarts().max()));
  start("--restart");
}

void Conductor::start(std::string cause) {
  starts_->on_start(now_);
  killer_->on_wanted();
  watch_->on_start();
  if (generations_.has_any()) opening_->on_another_child();
  Child& child = begin_child(std::move(cause));
  // A tool has to describe itself first.
  if (is_tool()) child.life.expect_slow_start();
  out_.push(order::StartChild{child.gen()});
}

Child& Conductor::begin_child(std::string cause) {
  Child& child = generations_.begin(
      now_, [this] { return ids_.next(requests_); },
      [this] {
        return opening_->session().is_asked() ? std::string() : opening_->envelope().meta();
      },
      config_.sitter_version);
  child.cause = std::move(cause);
  return child;
}

/// Does what the child needs next on its way from started to serving.
void Conductor::advance(Child& child) {
  using State = Handshake::State;
  Handshake& handshake = child.handshake;
  if (!child.life.is_up()) return;
  if (child.is_retiring()) {
    if (handshake.state() == State::refused) fail_refused(child);
    release_explained(child);
    finish_retiring(child);
    return;
  }
  if (handshake.state() == State::idle || handshake.state() == State::unopened) {
    if (opening() != nullptr || opening_->session().is_asked()) {
      open(child);
    } else if (!child.own_restart.is_suspected()) {
      // The first child may well be silent for as long as the client's first request takes.
      if (opening_->next_child_is_replacement()) expect_start(child);
      advance_unopened(child);
    }
    return;
  }
  if (handshake.state() == State::refused && opening_->was_sent_to(child.gen()) &&
      opening() != nullptr && opening_->envelope().is_known() && handshake.is_of_stateless_era()) {
    refuse_opening(child);
    return;
  }
  if (handshake.state() == State::refused) {
    if (ClientRequest* const asked = opening()) {
      answer_opening_ourselves(*asked, handshake.refusal(), ring_of(child).tail(child.gen()));
    }
    fail_refused(child);
    child.life.take_down(EndReason::opening_refused, handshake.refusal(), ladder(), now_, out_);
    return;
  }
  if (handshake.state() == State::opened && opening_->session().is_initialized()) {
    replay_first(child);
    handshake.settle(opening_->session(), !opening_->was_sent_to(child.gen()), now_, out_);
  }
  if (child.role == Role::coming && generations_.is_one_ending()) return;
  if (generations_.is_candidate(child)) {
    if (!handshake.is_there()) return;
    take_over();
  }
  // The child may have come to serve because the child before it has ended.
  show_stderr(child);
  for (std::string& failure : handshake.take_call_failures()) {
    notices_->add_replay_failure(std::move(failure));
  }
  if (const auto lists = handshake.take_lists(now_)) {
    on_lists(child, *lists);
    doubt_opening(child, *lists);
  }
  release_explained(child);
  if (child.role == Role::coming && handshake.is_there()) {
    begin_serving(child);
    // Lists that did not come in time show nothing of a child that needs no opening.
    if (handshake.has_spoken()) note_served(child);
  }
  if (child.takes_requests() && requests_.waiting_count() > 0 && !rebuilder_->holds_requests())
    release_waiting(child);
}

/// The candidate serves from now on. The child before it may finish its requests.
void Conductor::take_over() {
  Child& before = *generations_.serving();
  ChildEnd end = end_for(EndReason::replaced, &before);
  if (rebuilder_->is_on()) end.why = rebuilder_->rebuild().cause;
  history_->on_served_over(before.gen(), std::move(end), {});
  // Each call of a tool has its own limit, which ends it.
  const bool has_own_limits = is_tool() && config_.on_busy_wait != Milliseconds::zero();
  generations_.retire(
      before, now_.steady + (has_own_limits ? limits::kCallTimeoutMax : config_.on_busy_wait));
  streams_.on_child_lost(before.gen(), turn());
  answers_.on_child_lost();
  finish_retiring(before);
}

/// Moves the stderr of a former candidate into the common ring.
void Conductor::show_stderr(Child& child) {
  if (!child.stderr_apart) return;
  ring_.child_started(child.gen(), child.life.pid());
  ring_.append(*std::exchange(child.stderr_apart, std::nullopt));
}

/// A child whose successor serves.
void Conductor::finish_retiring(Child& child) {
  const bool is_gone = child.own_restart.is_certain();
  const bool may_finish = !is_gone && !is_due(child.retire_by, now_);
  if (requests_.in_flight_count(child.gen()) > 0 && may_finish) return;
  child.life.take_down(EndReason::replaced, {}, ladder(), now_, out_);
}

/// The child serves this client already, without a session.
void Conductor::refuse_opening(Child& child) {
  ClientRequest& request = *opening();
  opening_->on_refused();
  answer(request, Outgoing::own(error_line(request.id(), child.handshake.refusal_error())));
  advance_unopened(child);
}

/// The child cannot serve this client, which explains the errors that it has answered so far.
void Conductor::fail_refused(Child& child) {
  if (!std::exchange(child.has_held_errors, false)) return;
  ChildEnd end = end_for(EndReason::opening_refused, &child);
  end.why = child.handshake.refusal();
  const DeathReport report = report_of(end, ring_.tail(child.gen()), Reach::refused);
  for (ClientRequest* request : refusals_of(child.gen())) fail_undone(*request, report);
}

/// Lets held errors go as soon as the bridge knows that the child is of the client's era, and open.
void Conductor::release_explained(Child& child) {
  if (!child.has_held_errors || child.handshake.is_in_doubt()) return;
  if (child.own_restart.is_suspected()) return;
  child.has_held_errors = false;
  // The error of a call may carry a notice, which waits until the client has listed the tools.
  const bool waits = relist_->is_waiting() && config_.writes_notices && child.serves();
  for (ClientRequest* request : refusals_of(child.gen())) {
    if (waits && request->method == Method::tools_call) {
      request->extra->is_refusal = false;
    } else {
      answer_held(*request);
    }
  }
}

void Conductor::expect_start(Child& child) {
  if (config_.startup_timeout == Milliseconds::zero()) return;
  child.handshake.expect_start(now_.steady + config_.startup_timeout);
}

void Conductor::open(Child& child) {
  // A client that has probed opens the same child, which has to come to serve once more.
  generations_.come_again(child);
  expect_start(child);
  if (const ClientRequest* const asked = opening()) {
    opening_->on_sent(child.gen());
    child.handshake.open_with_clients(asked->extra->line.text(), asked->id(), out_);
  } else {
    child.handshake.open_again(opening_->session(), out_);
  }
}

/// A child for a client that has not opened a session: it speaks the stateless revision, or only
/// probes so far.
void Conductor::advance_unopened(Child& child) {
  child.handshake.leave_unopened();
  if (opening_->next_child_is_replacement()) {
    replay_first(child);
    child.handshake.list(true, catalogs_->tools().count() > 0, now_, out_);
    // Otherwise `begin_serving` asks for the streams.
    if (!child.handshake.is_calling_again()) ask_for_streams(child);
    return;
  }
  begin_serving(child);
  if (requests_.waiting_count() > 0 && !child.absence.holds()) release_waiting(child);
  // The lists are asked for after the client's first request, so that a server of both eras takes
  // the client's era.
  if (opening_->envelope().is_known()) child.handshake.list(false, false, now_, out_);
}

void Conductor::begin_serving(Child& child) {
  if (generations_.serve(child)) {
    lints_->on_serving(child.gen());
    if (!child.handshake.was_opened()) note_startup(child);
    // Only a running child shows which file is behind a wrapper.
    if (config_.watches_binary) inspect(Purpose::remember);
  }
  ask_for_streams(child);
}

/// The child has shown that it works: it was opened, or has answered without an opening. An answer
/// does not count if it came before the child served or belongs to no open request. The answer of a
/// retiring child shows nothing about the starts since.
void Conductor::note_served(Child& child) {
  if (!child.prove_start() || child.is_retiring()) return;
  starts_->on_proved();
  history_->on_proved();
}

void Conductor::note_startup(Child& child) {
  child.startup =
      std::chrono::duration_cast<Milliseconds>(now_.steady - child.life.started().steady);
  history_->on_startup(child.startup);
}

void Conductor::on_opened(Child& child) {
  const OpeningResult& result = child.handshake.opened_with();
  note_startup(child);
  out_.log(Level::info,
           fmt::format("child {} is open after {}: {} {}, protocol {}", child.gen(),
                       duration_text(child.startup), one_line(result.server_name()),
                       one_line(result.server_version()), one_line(result.protocol_version)));
}

void Conductor::on_lists(Child& child, const std::vector<ListSurvey::List>& lists) {
  const bool is_first = child.lists == Lists::unknown;
  const bool is_respawn = is_first && !opening_->was_sent_to(child.gen()) &&
                          (child.handshake.was_opened() || opening_->next_child_is_replacement());
  CatalogComparison comparison = catalogs_->take(lists, is_respawn);
  child.lists =
      std::max(child.lists, comparison.are_tools_known ? Lists::with_tools : Lists::taken);
  if (comparison.are_tools_known) lint_tools();
  names_.make_way_for(catalogs_->tools().names());
  if (!opening_->session().is_asked()) note_era(child, lists);
  if (!is_respawn) {
    // The child has told the client itself, or the client has not listed yet.
    if (notices_->restart() == nullptr) catalogs_->mark_told();
    return;
  }

  announce(comparison);
  restore_subscriptions(child);
  streams_.tell_updated(turn());

  RestartNotice notice;
  notice.is_first = !history_->last_told();
  notice.is_description = is_tool();
  notice.spawn = child.gen();
  notice.pid = child.life.pid();
  if (!child.handshake.was_opened()) note_startup(child);
  notice.startup = child.startup;
  notice.previous = history_->last_told();
  notice.previous_pid = history_->last_told_pid();
  notice.last_words = history_->last_words();
  notice.not_compared = std::move(comparison.not_compared);
  for (const std::string& uri : child.handshake.lost_subscriptions()) {
    notice.subscriptions_lost.push_back(string_value(uri));
  }
  notices_->on_restart(std::move(notice));
  inspect(Purpose::notice);
}

/// Notes what the answer to our tools/list tells of a child that has no opening.
void Conductor::note_era(Child& child, const std::vector<ListSurvey::List>& lists) {
  for (const ListSurvey::List& list : lists) {
    if (list.kind != CatalogKind::tools) continue;
    child.handshake.on_named(list.server_info);
    if (list.is_stateless || list.state == ListSurvey::List::State::complete) continue;
    out_.log(Level::warn,
             fmt::format("child {} did not list its tools as a server of the stateless "
                         "revision does, which this client speaks; perhaps it has to be "
                         "opened with initialize",
                         child.gen()));
  }
}

void Conductor::restore_subscriptions(const Child& child) {
  for (const std::string& uri : child.handshake.lost_subscriptions()) opening_->unsubscribe(uri);
  // No child tells the client what changed while none served.
  for (const std::string& uri : child.handshake.restored_subscriptions()) {
    to_client(Outgoing::own(notification_line(method_name(Method::resources_updated),
                                              fmt::format(R"json({{"uri":{}}})json", uri))));
  }
}

void Conductor::release_waiting(Child& child) {
  while (requests_.waiting_count() > 0) {
    auto [request, order, line, since] = requests_.next_waiting();
    if (request == nullptr) {
      out_.push(order::SendToChild{child.gen(), Outgoing::own(line.text())});
      continue;
    }
    const Message* const message = kept_reader_.read(line.line());
    if (message != nullptr && (answer_ourselves(*request, &child, message->params) ||
                               refuse_waiting_call(*request, *message))) {
      continue;
    }
    forward(*request, line.line(), Outgoing::own(line.text()), child);
  }
}

}  // namespace sitter
