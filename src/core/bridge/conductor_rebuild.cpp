#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/starts.hpp"
#include "core/client/opening.hpp"
#include "core/client/relist_wait.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/report/notices.hpp"
#include "core/wire/method.hpp"

namespace sitter {
namespace {

/// How many lines the next result shows after a failed reload. Their bytes have the bound of any
/// excerpt.
constexpr std::size_t kReloadLinesMax = 30;

}  // namespace

using Server = RebuildReport::Server;
using RebuildState = Rebuilder::State;

void Conductor::begin_rebuild(ClientRequest& request, const RebuildArguments& arguments) {
  if (refuse_when_throttled(request)) return;
  killer_->on_wanted();
  rebuilder_->call({request.handle(), !request.is_control(), arguments.timeout}, arguments, turn());
}

void Conductor::on(const fact::ReloadAsked& fact) {
  // A call that the client is still owed may wait for the next description of a tool.
  if (ending_.is_stopping() || (!ending_.is_none() && !is_tool())) return;
  killer_->on_wanted();
  reload({fact.cause});
}

/// Asks for a reload. `caller` gets the answer; it may be null.
void Conductor::reload(const Reload& wanted, const ClientRequest* caller) {
  std::optional<RebuildCaller> waiting;
  if (caller != nullptr) {
    waiting = {caller->handle(), !caller->is_control(), wanted.how.timeout};
  }
  rebuilder_->reload(wanted, waiting, may_replace_new_child(), turn());
}

/// Whether a rebuild may replace a server that is still on its way: it is of no use to wait for a
/// server only to replace it. A server that requests wait for must not be replaced: the requests
/// are owed an answer, and saves might replace one server after another for ever.
bool Conductor::may_replace_new_child() const {
  if (!rebuilder_->waits_for(RebuildState::room) && !rebuilder_->waits_for(RebuildState::new_child))
    return false;
  if (!rebuilder_->rebuild().callers.empty()) return false;
  return std::none_of(generations_.begin(), generations_.end(), [&](const Child& child) {
    return rebuilder_->is_new_child(child.gen()) && is_awaited(child);
  });
}

/// Whether requests wait for this child, and no other child could serve them. A child that hangs is
/// not awaited for ever.
bool Conductor::is_awaited(const Child& child) const {
  return !generations_.takes_requests() && needs_child() && !child.is_retiring() &&
         now_.steady < child.life.started().steady + limits::kBuildPatience;
}

/// The time from which a child that hangs is no longer awaited. A rebuild may then put another
/// child in its place.
std::optional<Instant> Conductor::replaceable_at(const Child& child) const {
  if (!rebuilder_->is_on() || !is_awaited(child)) return std::nullopt;
  return child.life.started().steady + limits::kBuildPatience;
}

void Conductor::on(const fact::StatusAsked&) { inspect(Purpose::status_for_log); }

void Conductor::on_rebuild_timeout() {
  for (const RebuildCaller& caller : rebuilder_->on_timeout(turn())) {
    answer_tool_text(
        caller.request,
        fmt::format("[mcp-sitter] this call gives up after {} (timeout_seconds), but {} and goes "
                    "on, since others wait for it too{}.",
                    duration_text(caller.timeout), rebuild_clause(),
                    caller.is_client ? "; call again to wait longer" + rebuild_hint()
                                     : "; mcp-sitter ctl status shows it"),
        true);
  }
}

/// Says what is on its way, and for whom.
std::string Conductor::rebuild_clause() const {
  const std::string& cause = rebuilder_->rebuild().cause;
  const bool is_building = rebuilder_->is_building();
  return progress_clause(
      cause.empty() ? names_.name(Builtin::rebuild) : one_line(cause),
      is_building ? std::optional(rebuilder_->build()->age(now_)) : std::nullopt);
}

/// Says which tool shows the rebuild, and which tool ends it.
std::string Conductor::rebuild_hint() const {
  std::vector<std::string> hints;
  const std::string shows = rebuilder_->is_building()
                                ? names_.first_name({Builtin::build_log, Builtin::status})
                                : names_.name(Builtin::status);
  if (!shows.empty()) hints.push_back(shows + " shows it");
  if (names_.offers(Builtin::kill) && !rebuilder_->rebuild().clients_call()) {
    hints.push_back(names_.name(Builtin::kill) + " ends it");
  }
  return hints.empty() ? "" : fmt::format("; {}", fmt::join(hints, ", "));
}

/// Whether the client's requests wait for the new child.
bool Conductor::keeps_waiting() const {
  return rebuilder_->is_on() && !ending_.is_stopping() &&
         (rebuilder_->holds_requests() || !generations_.takes_requests());
}

/// When the request that has waited longest has waited long enough. The time before the rebuild
/// does not count.
std::optional<Instant> Conductor::patience_end() const {
  const auto since = keeps_waiting() ? requests_.waits_since() : std::nullopt;
  if (!since) return std::nullopt;
  return std::max(*since, rebuilder_->rebuild().begun) + limits::kBuildPatience;
}

/// The client would soon give these requests up, and its model would never know why.
void Conductor::answer_patient_requests() {
  for (ClientRequest* request : requests_.waiting_since(now_.steady - limits::kBuildPatience)) {
    const std::string why =
        fmt::format("this request was not delivered, because {}; call again to wait longer{}",
                    rebuild_clause(), rebuild_hint());
    if (is_list(request->method) && request->is_first_page) {
      answer_last_list(*request);
    } else if (request->fails_with_result()) {
      answer_tool_text(*request, fmt::format("[mcp-sitter] {}.", why), true);
    } else {
      answer_error(*request, ErrorCode::internal_error, why);
    }
  }
}

void Conductor::advance_rebuild() {
  if (ending_.is_stopping()) return;
  if (rebuilder_->waits_for(RebuildState::quiet)) {
    if (requests_.in_flight_count() > 0 && !is_due(rebuilder_->quiet_deadline(), now_)) return;
    rebuilder_->on_quiet();
    if (!serves_foreign()) {
      take_back_process(rebuilder_->rebuild().cause);
      generations_.take_down_all(EndReason::replaced, rebuilder_->rebuild().cause, ladder(), now_,
                                 out_);
    }
  }
  if (rebuilder_->waits_for(RebuildState::no_children) &&
      (generations_.is_empty() || serves_foreign()) && !killer_->is_killing()) {
    rebuilder_->on_no_children(turn());
  }
  if (rebuilder_->waits_for(RebuildState::room)) {
    start_new_child();
  } else if (rebuilder_->waits_for(RebuildState::new_child)) {
    const Child* const child = generations_.find(rebuilder_->rebuild().gen);
    if (child == nullptr || child->role == Child::Role::coming) return;
    rebuilder_->on_served();
    inspect(Purpose::rebuild);
  }
}

/// Starts the new child, once no other server is left beside the child that serves.
void Conductor::start_new_child() {
  // Every child that is on its way was started before this rebuild.
  bool is_one_left = false;
  for (Child& child : generations_) {
    if (child.serves()) continue;
    // The calls of a tool go on, and its next description does not wait for them.
    if (child.is_retiring() && is_tool()) continue;
    // A retiring child may finish, and an awaited child may come up. There are never three servers.
    if (!child.is_retiring() && !is_awaited(child)) {
      child.life.take_down(EndReason::replaced, {}, ladder(), now_, out_);
    }
    is_one_left = true;
  }
  if (is_one_left || killer_->is_killing()) return;
  // Requests also wait while a server is started anew behind its child.
  const bool is_wanted = opening_->is_open() || (needs_child() && !generations_.is_served());
  if (!is_wanted) {
    RebuildReport report;
    report.server = Server::not_wanted;
    finish_rebuild(std::move(report));
    return;
  }
  if (Child* const serving = generations_.serving(); serving != nullptr && !config_.url.empty()) {
    make_way(*serving);
    return;
  }
  const std::string& cause = rebuilder_->rebuild().cause;
  if (left_process_ != kNoGeneration) {
    take_back_process(cause);
    generations_.take_down_all(EndReason::replaced, cause, ladder(), now_, out_);
    return;
  }
  start(cause.empty() ? names_.name(Builtin::rebuild) : one_line(cause));
  rebuilder_->on_started(generations_.last());
}

void Conductor::on_looked_at_new_child() {
  RebuildReport report;
  if (serves_foreign()) report.server = Server::not_ours;
  finish_rebuild(std::move(report));
}

/// Two servers cannot listen at one address, so the child that serves ends first.
void Conductor::make_way(Child& serving) {
  if (serving.life.pid() == 0) {
    RebuildReport report;
    report.server = Server::not_ours;
    finish_rebuild(std::move(report));
    return;
  }
  rebuilder_->expect_quiet(now_);
  if (requests_.in_flight_count() > 0 && !is_due(rebuilder_->quiet_deadline(), now_)) return;
  rebuilder_->on_way_made();
  serving.life.take_down(EndReason::replaced, rebuilder_->rebuild().cause, ladder(), now_, out_);
}

void Conductor::on_build_line(const fact::ChildErrorLine& fact) {
  rebuilder_->on_line(fact);
  tell_build_progress();
}

/// Sends the newest line of the build to the callers that have asked for progress.
void Conductor::tell_build_progress() {
  const auto progress = rebuilder_->take_progress(now_);
  if (!progress) return;
  for (const RebuildCaller& caller : rebuilder_->rebuild().callers) {
    const ClientRequest* const request = requests_.find(caller.request);
    const std::string_view token = request == nullptr ? "" : request->progress_token();
    if (token.empty()) continue;
    answers_.output().on_progress(token, now_);
    to_client(Outgoing::own(notification_line(
        method_name(Method::progress),
        fmt::format(R"json({{"progressToken":{},"progress":{},"message":{}}})json", token,
                    progress->count, json_string(progress->line)))));
  }
}

void Conductor::on_build_over() {
  const Rebuilder::Next next = rebuilder_->on_build_over(ending_.is_stopping(), turn());
  if (next != Rebuilder::Next::goes_on && is_unbuilt()) {
    history_->on_unbuilt("it is not built yet, and " + build_clause(*rebuilder_->build()->result()),
                         now_.wall);
  }
  switch (next) {
    case Rebuilder::Next::goes_on:
      break;
    case Rebuilder::Next::is_given_up:
      begin_next_rebuild(rebuilder_->take());
      break;
    case Rebuilder::Next::has_failed: {
      RebuildReport report;
      report.server = server_without_rebuild();
      finish_rebuild(std::move(report));
      // Otherwise the requests that wait would start the same build again and again.
      if (is_unbuilt() && !rebuilder_->is_on()) fail_unbuilt();
      break;
    }
  }
}

/// Whether the command of the server was missing at the last start, and the build may bring it.
bool Conductor::is_unbuilt() const {
  return !config_.build_command.empty() && !generations_.has_any() && history_->last_end() &&
         history_->last_end()->is_command_missing;
}

/// Whether the client waits for the rebuild that is on its way, if there is one.
bool Conductor::waits_for_build() const {
  return rebuilder_->is_on() && (needs_child() || rebuilder_->rebuild().clients_call());
}

/// Says what an opening waits for. A build must be running.
std::string Conductor::first_build_clause() const {
  return fmt::format("it is being built for the first time, and the build has been running for {}",
                     duration_text(rebuilder_->build()->age(now_)));
}

/// A build has failed that was to bring the command. Answers all requests that waited for it.
void Conductor::fail_unbuilt() {
  const ChildEnd& end = *history_->last_end();
  starts_->on_failed({end, {}});
  // The answers tell it.
  notices_->forget_reload_failure();
  on_start_failed(end, {}, false, rebuilder_->build()->excerpt());
}

/// What a rebuild leaves that brings no new server.
Server Conductor::server_without_rebuild() {
  if (generations_.serving() != nullptr) return Server::kept;
  return generations_.is_one_coming() ? Server::starting : Server::down;
}

/// The new child has ended before the callers were told that it serves.
void Conductor::on_new_child_over(const ChildEnd& end, const std::string& stderr_tail) {
  RebuildReport report;
  report.server = server_without_rebuild();
  report.start_failure = end;
  report.stderr_tail = stderr_tail;
  finish_rebuild(std::move(report));
}

void Conductor::finish_rebuild(RebuildReport report) {
  PendingRebuild rebuild = rebuilder_->take();
  tell_rebuilt(rebuild, std::move(report));
  begin_next_rebuild(std::move(rebuild));
}

/// The rebuild is over. Begins the next rebuild, if it was asked for meanwhile.
void Conductor::begin_next_rebuild(PendingRebuild before) {
  // The child that served may have ended while it was being replaced.
  if (!generations_.has_any() && !killer_->is_killing() && !killer_->is_wanted_down() &&
      history_->last_end()) {
    restart_later(*history_->last_end());
  }
  if (!ending_.is_none()) {
    tell_given_up(before.leave_next_to_client(), "the client has ended the session");
  }
  if (before.next && !ending_.is_stopping()) rebuilder_->follow(before, turn());
}

void Conductor::tell_rebuilt(const PendingRebuild& rebuild, RebuildReport report) {
  report.rebuild_tool = names_.name(Builtin::rebuild);
  report.kill_tool = names_.name(Builtin::kill);
  report.log_tool = names_.name(Builtin::build_log);
  report.stderr_tool = names_.name(Builtin::child_stderr);
  if (!config_.build_command.empty()) {
    report.build = rebuilder_->build()->result();
    report.output = rebuilder_->build()->excerpt();
  }
  // If the new server serves, earlier failures no longer matter.
  if (!is_failure(report)) notices_->forget_reload_failure();
  const auto first = rebuild.clients_call();
  ClientRequest* const told = first ? requests_.find(*first) : nullptr;
  const bool is_client_told = told != nullptr;
  if (!is_client_told && is_failure(report)) {
    notices_->on_reload_failed(reload_text(rebuild, report));
  }
  if (rebuild.callers.empty()) return;
  const bool is_restarted = report.server == Server::restarted;
  Generation notice_of = kNoGeneration;
  if (is_restarted && has_notice()) {
    const bool is_told_now = is_client_told && !relist_->is_waiting();
    const RestartNotice* const restart = notices_->restart();
    if (restart != nullptr && !is_told_now) notice_of = restart->spawn;
    report.notice = is_told_now ? tell_notice(*told) : notices_->show(known_for_notice());
  }
  for (const RebuildCaller& waiting : rebuild.callers) {
    ClientRequest* const caller = requests_.find(waiting.request);
    if (caller == nullptr) continue;
    report.joined_after = waiting.joined_after;
    const std::string text = rebuild_text(caller->is_control() ? for_person(report) : report);
    std::string line = tool_text_line(*caller, text, is_failure(report));
    // The model may call a new tool in its next turn.
    if (is_restarted && relist_->is_waiting() && !caller->is_control()) {
      caller->more().notice_of = notice_of;
      hold(*caller, std::move(line));
    } else {
      answer(*caller, Outgoing::own(std::move(line)));
    }
  }
}

/// The text for the next result, with fewer lines of the build's output.
std::string Conductor::reload_text(const PendingRebuild& rebuild, RebuildReport report) const {
  report.cause = rebuild.cause;
  if (report.build) report.output = rebuilder_->build()->excerpt(kReloadLinesMax);
  return rebuild_text(report);
}

/// A kill was called. Only a call of the client keeps the rebuild going.
void Conductor::give_up_rebuild(std::string_view killer) {
  tell_given_up(rebuilder_->leave_to_client(), fmt::format("{} was called", killer));
  if (rebuilder_->is_unwanted()) abandon_rebuild();
}

void Conductor::tell_given_up(const std::vector<RebuildCaller>& callers, std::string_view why) {
  for (const RebuildCaller& caller : callers) {
    answer_tool_text(caller.request,
                     fmt::format("[mcp-sitter] The reload was given up, because {}.", why), true);
  }
}

void Conductor::abandon_rebuild() {
  if (rebuilder_->cancel_build(turn())) return;
  Child* const child = generations_.find(rebuilder_->rebuild().gen);
  // If no child serves, the new child is the only child.
  if (child != nullptr && child->role == Child::Role::coming && generations_.is_served()) {
    child->life.take_down(EndReason::replaced, {}, ladder(), now_, out_);
  }
  begin_next_rebuild(rebuilder_->take());
}

void Conductor::show_build_log(ClientRequest& request, const StderrRing::Query& query) {
  const Build* const build = rebuilder_->build();
  if (build == nullptr) {
    answer_tool_text(request, "(nothing has been built yet)", false);
    return;
  }
  const StderrRing::Answer shown = build->log_text(query);
  answer_tool_text(request, shown.text, shown.is_error);
}

std::optional<StatusFacts::BuildFacts> Conductor::build_status() const {
  if (config_.build_command.empty()) return std::nullopt;
  StatusFacts::BuildFacts facts;
  facts.command = config_.build_command;
  facts.is_running = rebuilder_->is_building();
  facts.last = rebuilder_->last_result();
  return facts;
}

}  // namespace sitter
