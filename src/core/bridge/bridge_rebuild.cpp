#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/build/build_excerpt.hpp"
#include "core/wire/method.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Outcome = BuildResult::Outcome;
using Server = RebuildReport::Server;
using State = PendingRebuild::State;

void Conductor::begin_rebuild(ClientRequest& request, const RebuildArguments& arguments) {
  if (refuse_in_crowd(request)) return;
  const bool is_free = !rebuild_ || !rebuild_->is_wanted();
  killer_.on_wanted();
  const bool is_new = !rebuild_;
  if (is_new) rebuild_.emplace(now_.steady);
  RebuildCaller caller{request.handle(), !request.is_control(), arguments.timeout};
  if (!is_new && is_build_timed_out()) {
    // What it comes to is decided by a limit that is not that of this call.
    rebuild_->follow_with({{}, arguments}).callers.push_back(caller);
    return;
  }
  if (!is_free) {
    if (has_rebuild_begun()) {
      caller.joined_after = build_->age(now_);
      if (rebuild_->state == State::building) caller.deadline = now_.steady + arguments.timeout;
    }
    rebuild_->callers.push_back(caller);
    return;
  }
  rebuild_->callers.push_back(caller);
  rebuild_->cause.clear();
  rebuild_->mode = arguments.mode;
  if (is_new) restart_rebuild();
}

void Conductor::on(const fact::ReloadAsked&) {
  if (ending_ != Ending::none) return;
  killer_.on_wanted();
  reload({"SIGHUP"});
}

/// For somebody else than the client, who may wait for what comes of it.
void Conductor::reload(const Reload& wanted, ClientRequest* caller) {
  const auto add_to = [&](auto& rebuild) {
    if (caller == nullptr) {
      rebuild.is_unattended = true;
    } else {
      rebuild.callers.push_back({caller->handle(), !caller->is_control(), wanted.how.timeout});
    }
  };
  const bool is_new = !rebuild_;
  if (is_new) rebuild_.emplace(now_.steady);
  const bool begins_anew = is_new || !rebuild_->is_wanted() || is_replaced_by_reload();
  if (!begins_anew && has_rebuild_begun()) {
    // What has changed meanwhile may not be in it.
    add_to(rebuild_->follow_with(wanted));
    return;
  }
  add_to(*rebuild_);
  if (caller == nullptr) rebuild_->timeout = wanted.how.timeout;
  if (!begins_anew) return;
  rebuild_->cause = wanted.cause;
  rebuild_->mode = wanted.how.mode;
  // One that is cancelled begins anew when its build is over.
  if (rebuild_->is_cancelled) return;
  rebuild_->gen = kNoGeneration;
  restart_rebuild();
}

/// There is no point in waiting for a server only to replace it. But whoever waits for it is
/// owed an answer, and saves might go on for ever.
bool Conductor::is_replaced_by_reload() const {
  if (rebuild_->state != State::starting || !rebuild_->callers.empty()) return false;
  return std::none_of(children_.begin(), children_.end(), [&](const Child& child) {
    return child.gen() == rebuild_->gen && is_awaited(child);
  });
}

/// Requests wait for it, and nothing else could serve them. One that hangs is not awaited for ever.
bool Conductor::is_awaited(const Child& child) const {
  return !is_served() && needs_child() && !child.retires_at &&
         now_.steady < child.life.started().steady + limits::kBuildPatience;
}

/// What changes from now on may not be in it.
bool Conductor::has_rebuild_begun() const {
  switch (rebuild_->state) {
    case State::finishing:
    case State::clearing:
      return false;
    case State::building:
      // One that is cancelled is done once more for those who have called since.
      return !rebuild_->is_cancelled;
    case State::starting:
      return !config_.build_command.empty() || rebuild_->gen != kNoGeneration;
    case State::reporting:
      break;
  }
  return true;
}

/// It has reached the limit of all who waited for it, and is being stopped.
bool Conductor::is_build_timed_out() const {
  return rebuild_->state == State::building && !rebuild_->is_cancelled && build_->is_stopped();
}

void Conductor::on(const fact::StatusAsked&) { inspect(Purpose::status_for_log); }

void Conductor::restart_rebuild() {
  rebuild_->is_cancelled = false;
  // It is also the one that was to come after it.
  if (const auto next = std::exchange(rebuild_->next, std::nullopt)) rebuild_->join(*next);
  if (rebuild_->mode == RebuildMode::kill_first) {
    rebuild_->state = State::finishing;
    rebuild_->deadline = now_.steady + config_.on_busy_wait;
  } else {
    start_build();
  }
}

/// Or what follows it, where nothing is built.
void Conductor::start_build() {
  if (config_.build_command.empty()) {
    rebuild_->state = State::starting;
    return;
  }
  rebuild_->state = State::building;
  if (rebuild_->is_unattended) rebuild_->unattended_until = now_.steady + rebuild_->timeout;
  for (RebuildCaller& caller : rebuild_->callers) {
    caller.deadline = now_.steady + caller.timeout;
  }
  build_.emplace(--last_build_, now_);
  if (changes_) changes_->on_build();
  has_progress_ = false;
  out_.push(order::StartBuild{build_->life.gen()});
}

void Conductor::stop_build(Outcome outcome) {
  build_->stop_for(outcome);
  const Milliseconds rung = config_.kill_grace;
  build_->life.take_down(EndReason::shut_down, {}, {Milliseconds::zero(), rung, rung}, now_, out_);
}

void Conductor::on_rebuild_timeout() {
  if (is_due(patience_end(), now_)) answer_patient_requests();
  if (rebuild_->state != State::building) return;
  on_build_deadlines();
  if (has_progress_ && next_progress_ <= now_.steady) tell_build_progress();
}

/// A caller whose time is over is answered. A build that nobody waits for is stopped.
void Conductor::on_build_deadlines() {
  const auto is_out = [&](const RebuildCaller& caller) { return is_due(caller.deadline, now_); };
  auto& callers = rebuild_->callers;
  const bool is_unattended_out = is_due(rebuild_->unattended_until, now_);
  if (!is_unattended_out && std::none_of(callers.begin(), callers.end(), is_out)) return;
  const bool is_wanted = (rebuild_->is_unattended && !is_unattended_out) ||
                         !std::all_of(callers.begin(), callers.end(), is_out);
  if (!is_wanted) {
    rebuild_->clear_deadlines();
    stop_build(Outcome::timed_out);
    return;
  }
  if (is_unattended_out) {
    rebuild_->is_unattended = false;
    rebuild_->unattended_until.reset();
  }
  const auto leaving = std::stable_partition(callers.begin(), callers.end(), std::not_fn(is_out));
  const std::vector<RebuildCaller> left(leaving, callers.end());
  callers.erase(leaving, callers.end());
  for (const RebuildCaller& caller : left) {
    answer_tool_text(
        caller.request,
        fmt::format("[mcp-sitter] {} and goes on, since others want it too; this call has "
                    "waited for {} (timeout_seconds). {}.",
                    rebuild_clause(), duration_text(caller.timeout), rebuild_advice()),
        true);
  }
}

/// What goes on, and for whom.
std::string Conductor::rebuild_clause() const {
  const std::string cause =
      rebuild_->cause.empty() ? names_.name(Builtin::rebuild) : one_line(rebuild_->cause);
  if (rebuild_->state == State::building) {
    return fmt::format("a build has been running for {} ({})", duration_text(build_->age(now_)),
                       cause);
  }
  return fmt::format("a new server is on its way ({})", cause);
}

/// What shows more, and what ends it.
std::string Conductor::rebuild_advice() const {
  const bool is_building = rebuild_->state == State::building;
  return fmt::format(
      "{} shows it{}", names_.name(is_building ? Builtin::build_log : Builtin::status),
      rebuild_->clients_call() ? std::string()
                               : fmt::format(", {} ends it", names_.name(Builtin::kill)));
}

/// Whether the client's requests wait for what is built.
bool Conductor::keeps_waiting() const {
  return rebuild_ && ending_ != Ending::stopping && (holds_waiting() || !is_served());
}

/// Of the request that has waited longest since the rebuild has begun.
std::optional<Instant> Conductor::patience_end() const {
  const auto since = keeps_waiting() ? requests_.waits_since() : std::nullopt;
  if (!since) return std::nullopt;
  return std::max(*since, rebuild_->begun) + limits::kBuildPatience;
}

/// The client would give them up soon, and its model never know why.
void Conductor::answer_patient_requests() {
  for (ClientRequest* request : requests_.waiting_since(now_.steady - limits::kBuildPatience)) {
    const std::string why = fmt::format("this request was not delivered: {}; {}; call again",
                                        rebuild_clause(), rebuild_advice());
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
  if (ending_ == Ending::stopping) return;
  if (rebuild_->state == State::finishing) {
    if (requests_.in_flight_count() > 0 && !is_due(rebuild_->deadline, now_)) return;
    rebuild_->deadline.reset();
    rebuild_->state = State::clearing;
    for (Child& child : children_) {
      child.life.take_down(EndReason::replaced, rebuild_->cause, ladder(), now_, out_);
    }
  }
  if (rebuild_->state == State::clearing && children_.empty() && !killer_.is_killing()) {
    start_build();
  }
  if (rebuild_->state == State::starting) advance_new_child();
}

/// The build has made a new server.
void Conductor::advance_new_child() {
  if (rebuild_->gen == kNoGeneration) {
    // Whatever is on its way was started from an earlier build.
    bool is_one_left = false;
    for (Child& child : children_) {
      if (child.serves()) continue;
      // What was promised to one that retires holds, and what waits for one that starts gets it;
      // and there are never three.
      if (!child.retires_at && !is_awaited(child)) {
        child.life.take_down(EndReason::replaced, {}, ladder(), now_, out_);
      }
      is_one_left = true;
    }
    if (is_one_left || killer_.is_killing()) return;
    if (!is_open()) {
      RebuildReport report;
      report.server = Server::not_wanted;
      finish_rebuild(std::move(report));
      return;
    }
    start();
    rebuild_->gen = last_gen_;
    return;
  }
  const Child* const child = hears(rebuild_->gen);
  if (child == nullptr || !child->is_ready) return;
  rebuild_->state = State::reporting;
  inspect(Purpose::rebuild);
}

void Conductor::on_build_line(const fact::ChildErrorLine& fact) {
  build_->add(fact.line, fact.bytes_cut);
  // Who has called since a build was cancelled waits for the next one, which counts anew.
  if (rebuild_->is_cancelled) return;
  has_progress_ = true;
  if (next_progress_ <= now_.steady) tell_build_progress();
}

/// Its newest line, for those who have asked for progress.
void Conductor::tell_build_progress() {
  has_progress_ = false;
  next_progress_ = now_.steady + limits::kBuildProgressInterval;
  const std::string line =
      build_->output.tail(build_->life.gen(), 1, limits::kBuildProgressLineMax);
  for (const RebuildCaller& caller : rebuild_->callers) {
    const ClientRequest* const request = requests_.find(caller.request);
    const std::string_view token = request == nullptr ? "" : request->progress_token();
    if (token.empty()) continue;
    output_.on_progress(token, now_);
    output_.send(Outgoing::own(notification_line(
                     method_name(Method::progress),
                     fmt::format(R"json({{"progressToken":{},"progress":{},"message":{}}})json",
                                 token, build_->line_count(), json_string(line)))),
                 out_);
  }
}

void Conductor::on_build_over() {
  build_->finish(now_);
  has_progress_ = false;
  const BuildResult& result = last_build_result_.emplace(*build_->result());
  const bool is_good = result.outcome == Outcome::succeeded;
  out_.log(is_good ? Level::info : Level::warn, build_clause(result));
  rebuild_->clear_deadlines();
  if (rebuild_->is_cancelled) {
    if (!rebuild_->is_wanted() || ending_ == Ending::stopping) {
      reload_again(*std::exchange(rebuild_, std::nullopt));
    } else {
      restart_rebuild();
    }
  } else if (is_good) {
    rebuild_->state = State::starting;
  } else {
    RebuildReport report;
    report.server = serving() == nullptr ? Server::down : Server::kept;
    finish_rebuild(std::move(report));
  }
}

/// The child that was started from the new build has ended before it was told that it serves.
void Conductor::on_new_child_over(const ChildEnd& end, const std::string& stderr_tail) {
  RebuildReport report;
  report.server = serving() == nullptr ? Server::down : Server::kept;
  report.start_failure = end;
  report.stderr_tail = stderr_tail;
  finish_rebuild(std::move(report));
}

void Conductor::finish_rebuild(RebuildReport report) {
  PendingRebuild rebuild = *std::exchange(rebuild_, std::nullopt);
  tell_rebuilt(rebuild, std::move(report));
  reload_again(std::move(rebuild));
}

/// One is over, and another may have been asked for meanwhile.
void Conductor::reload_again(PendingRebuild before) {
  // The end of the child that served may have come while it was to be replaced.
  if (!has_child() && !killer_.is_killing() && !killer_.is_wanted_down() && last_end_)
    restart_later(*last_end_);
  if (ending_ != Ending::none) {
    tell_given_up(before.leave_next_to_client(), "the client has ended the session");
  }
  if (!before.next || ending_ == Ending::stopping) return;
  const Reload& wanted = before.next->wanted;
  // What waits has waited through both.
  rebuild_.emplace(before.begun);
  rebuild_->cause = wanted.cause;
  rebuild_->mode = wanted.how.mode;
  rebuild_->join(*before.next);
  restart_rebuild();
}

void Conductor::tell_rebuilt(const PendingRebuild& rebuild, RebuildReport report) {
  report.rebuild_tool = names_.name(Builtin::rebuild);
  report.kill_tool = names_.name(Builtin::kill);
  report.log_tool = names_.name(Builtin::build_log);
  report.stderr_tool = names_.name(Builtin::child_stderr);
  if (!config_.build_command.empty()) {
    report.build = build_->result();
    report.output = build_excerpt(build_->lines());
  }
  // What a new server has mended need not be told.
  if (!is_failure(report)) reload_failure_.clear();
  const auto first = rebuild.clients_call();
  ClientRequest* const told = first ? requests_.find(*first) : nullptr;
  const bool is_client_told = told != nullptr;
  if (!is_client_told && is_failure(report)) {
    reload_failure_ = reload_text(rebuild, report);
    notice_was_beside_structure_ = false;
  }
  if (rebuild.callers.empty()) return;
  const bool is_restarted = report.server == Server::restarted;
  Generation notice_of = kNoGeneration;
  if (is_restarted && has_notice()) {
    const bool is_told_now = is_client_told && !relist_.is_waiting();
    if (notice_ && !is_told_now) notice_of = notice_->spawn;
    report.notice = is_told_now ? tell_notice(*told) : pending_notice_text();
  }
  for (const RebuildCaller& waiting : rebuild.callers) {
    ClientRequest* const caller = requests_.find(waiting.request);
    if (caller == nullptr) continue;
    report.joined_after = waiting.joined_after;
    std::string line = tool_text_line(*caller, rebuild_text(report), is_failure(report));
    // The model may call a new tool in its next turn.
    if (is_restarted && relist_.is_waiting() && !caller->is_control()) {
      caller->more().notice_of = notice_of;
      hold(*caller, std::move(line));
    } else {
      answer(*caller, Outgoing::own(std::move(line)));
    }
  }
}

/// What stands in the next result, with as much of the build as a notice may have.
std::string Conductor::reload_text(const PendingRebuild& rebuild, RebuildReport report) const {
  report.cause = rebuild.cause;
  if (report.build) {
    report.output =
        build_excerpt(build_->lines(), limits::kReloadLinesMax, limits::kNoticeBytesMax);
  }
  return rebuild_text(report);
}

/// Somebody kills the server, so nothing brings it back that no call of the client waits for.
void Conductor::give_up_rebuild(std::string_view killer) {
  const std::vector<RebuildCaller> told = rebuild_->leave_to_client();
  tell_given_up(told, fmt::format("{} was called", killer));
  if (!rebuild_->is_wanted() && !rebuild_->is_cancelled) abandon_rebuild();
}

void Conductor::tell_given_up(const std::vector<RebuildCaller>& callers, std::string_view why) {
  for (const RebuildCaller& caller : callers) {
    answer_tool_text(caller.request,
                     fmt::format("[mcp-sitter] The reload was given up, because {}.", why), true);
  }
}

void Conductor::abandon_rebuild() {
  if (rebuild_->state == State::building) {
    rebuild_->is_cancelled = true;
    rebuild_->clear_deadlines();
    has_progress_ = false;
    stop_build(Outcome::stopped);
    return;
  }
  Child* const child = hears(rebuild_->gen);
  if (child != nullptr && is_candidate(*child)) {
    child->life.take_down(EndReason::replaced, {}, ladder(), now_, out_);
  }
  reload_again(*std::exchange(rebuild_, std::nullopt));
}

void Conductor::show_build_log(ClientRequest& request, const StderrRing::Query& query) {
  if (!build_) {
    answer_tool_text(request, "(nothing was built yet)", false);
    return;
  }
  const auto [text, is_error] = build_->output.text(query);
  const std::int64_t lost = build_->lost_count();
  const std::string head =
      lost > 0 && !is_error ? fmt::format("[... the first {} lines are not kept]\n", lost) : "";
  answer_tool_text(request, head + text, is_error);
}

bool Conductor::holds_waiting() const {
  return rebuild_ && (rebuild_->state == State::finishing || rebuild_->state == State::clearing);
}

std::optional<StatusFacts::BuildFacts> Conductor::build_status() const {
  if (config_.build_command.empty()) return std::nullopt;
  StatusFacts::BuildFacts facts;
  facts.command = config_.build_command;
  facts.is_running = build_ && build_->is_running();
  facts.last = last_build_result_;
  return facts;
}

}  // namespace sitter
