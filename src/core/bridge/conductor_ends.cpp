#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/child_requests.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/replays.hpp"
#include "core/child/starts.hpp"
#include "core/client/opening.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/report/catalogs.hpp"
#include "core/report/notices.hpp"
#include "core/wire/method.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;

void Conductor::on_over(Child dead) {
  const Generation gen = dead.gen();
  show_stderr(dead);
  // Another child serves, so the client notices nothing.
  const bool was_candidate = generations_.is_candidate(dead);
  ChildEnd end = dead.life.end(dead.handshake.is_past_opening());
  if (end.is_foreign && dead.life.pid() != 0) left_process_ = gen;
  end.is_foreign = !is_tool() && (end.is_foreign || is_foreign(&dead));
  end.has_no_process = is_tool();
  end.may_be_of_other_era = dead.handshake.is_era_unproven() &&
                            (end.reason == EndReason::exited || end.reason == EndReason::crashed);
  const bool is_deliberate =
      end.reason == EndReason::killed_by_sitter || end.reason == EndReason::shut_down;
  const bool is_replaced = end.reason == EndReason::replaced;
  // A server of an earlier revision may well exit when it is only probed.
  const bool was_probed = !opening_->is_open() && !dead.has_started();
  std::string tail = ring_.tail(gen);
  if (dead.handshake.has_spoken() && !is_deliberate && !is_replaced) blame_replay(dead, end);
  if (was_probed) {
    out_.log(Level::info, fmt::format("child {} has ended; it was only probed", gen));
  } else {
    out_.log(is_deliberate || is_replaced ? Level::info : Level::warn,
             fmt::format("child {}: {}", gen, end_clause(end)));
  }

  if (was_candidate) {
    // The newest lines on stderr are again those of the child that serves.
    ring_.child_started(generations_.shown()->gen(), generations_.shown()->life.pid());
  }
  history_->on_over(History::Life::over(dead.life, end), tail, was_candidate, now_.wall);

  drop_doubt(dead);
  for (ClientRequest* request : refusals_of(gen)) answer_held(*request);
  cancel_child_requests(gen);
  streams_.on_child_lost(gen, turn());
  opening_->on_another_child();
  const DeathReport report = report_of(end, tail, Reach::in_flight);
  bool is_told = false;
  for (ClientRequest* request : requests_.at_child(gen)) {
    is_told = is_told || (request->method == Method::tools_call &&
                          request->state != ClientRequest::State::cancelled);
    on_child_lost(dead, *request, report, is_deliberate);
  }
  if (!was_candidate && !dead.is_retiring()) answers_.on_child_lost();

  if (end.reason == EndReason::killed_by_sitter) killer_->add(dead.life.killed());
  if (end.reason == EndReason::given_up) killer_->add_note(end_clause(end));
  // A child without an opening may get requests before it has shown that it works.
  const bool had_requests = dead.role != Child::Role::coming && !was_probed;
  if (had_requests && !dead.is_retiring()) {
    history_->on_served_over(gen, end, is_told || !is_failure(end.reason) ? "" : tail);
  }
  const bool is_of_rebuild = rebuilder_->is_new_child(gen);
  if (is_of_rebuild) on_new_child_over(end, tail);
  if (!was_candidate && !dead.is_retiring() && !was_probed && !killer_->is_killing()) {
    restart_later(end);
  }
  if (was_candidate || dead.is_retiring() || dead.has_started()) return;
  if (is_deliberate || is_replaced) return;
  // The next start waits until the daemon is back. A session that is lost at once is a failed
  // start.
  if (end.reason == EndReason::connection_lost) return;
  if (!is_of_rebuild && build_first()) return;
  if (is_of_rebuild && is_unbuilt()) {
    history_->on_unbuilt(
        fmt::format("the build succeeded, and {} still does not exist", config_.command),
        now_.wall);
    end = *history_->last_end();
  }
  // The child has not shown that it works, so all waiting requests fail. Otherwise a child that
  // always dies on its way would be started for ever.
  if (!was_probed) {
    starts_->on_failed({end, tail});
    if (!had_requests) notices_->on_failed_start();
  }
  on_start_failed(end, tail, false);
}

/// A child could not be started. If a build may bring the command, the requests wait for the build,
/// and this returns true.
bool Conductor::build_first() {
  if (!is_unbuilt() || !needs_child() || killer_->is_killing() || !ending_.is_none()) return false;
  if (!rebuilder_->is_on()) rebuilder_->build_for_requests("the server is not built yet", turn());
  return true;
}

/// Answers all requests that waited for a child that did not come to serve.
void Conductor::on_start_failed(const ChildEnd& end, const std::string& stderr_tail,
                                bool is_repeated, const std::string& build_output) {
  if (ClientRequest* const asked = opening()) {
    answer_opening_ourselves(*asked, end_clause(end), stderr_tail, build_output);
  }
  DeathReport report = report_of(end, stderr_tail, Reach::not_delivered);
  report.is_repeated = is_repeated;
  report.build_output = build_output;
  fail_waiting(report);
}

/// A client that knows no tool of the server can only call the built-in tools, so a model that has
/// mended the server could never use it.
void Conductor::start_if_mended() {
  const bool has_tools = catalogs_->tools().count() > 0;
  const bool may_start = is_idle() && !starts_->is_checking() && ending_.is_none();
  if (has_tools || !may_start || history_->last_served() || !starts_->last_failure()) return;
  starts_->check_files(Starts::Check::for_mended, out_);
}

/// The client may still show the questions of a child that is gone.
void Conductor::cancel_child_requests(Generation gen) {
  for (const std::string& id : child_requests_->drop(gen)) {
    to_client(Outgoing::own(cancelled_line(id, "the server that asked is gone")));
  }
}

/// The child that had this request is over.
void Conductor::on_child_lost(const Child& dead, ClientRequest& request, const DeathReport& report,
                              bool is_deliberate) {
  if (request.state == ClientRequest::State::cancelled) {
    requests_.take(request);
  } else if (request.method == Method::ping) {
    answer_result(request, "{}");
  } else if (request.method == Method::initialize && opening() == nullptr) {
    answer_lost_opening(request, end_clause(*report.end), report.stderr_tail);
  } else if (request.method == Method::server_discover && !opening_->envelope().is_known()) {
    fail(request, report);
  } else if (!dead.has_started() && report.end->reason != EndReason::connection_lost) {
    // If this request has killed the child, it would kill the next children too.
    fail_undone(request, report);
  } else if (request.has_line() && request.is_repeatable() && !request.is_retried &&
             !is_deliberate && !killer_->is_killing() && ending_.is_none() &&
             requests_.may_wait(request.extra->line.size())) {
    answers_.on_retried(request);
    requests_.retry(request, now_.steady);
  } else {
    fail(request, report);
  }
}

/// A replayed call that has killed a child would kill the next child, too.
void Conductor::blame_replay(const Child& dead, ChildEnd& end) {
  if (end.reason == EndReason::ended_from_outside) return;
  // If client requests were also open, the culprit is unknown. The next child makes the replayed
  // calls alone.
  if (!dead.handshake.is_calling_again() && !requests_.at_child(dead.gen()).empty()) {
    return;
  }
  const std::string tool(dead.handshake.running_call());
  if (!replays_->forget(tool)) return;
  notices_->add_replay_failure(
      fmt::format("{}: {}; it is not called again by itself", tool, end_clause(end)));
  end.during = fmt::format("{} was called again, which --replay-call asks for", tool);
}

}  // namespace sitter
