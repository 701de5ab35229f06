#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sitter/core/bridge.hpp"
#include "sitter/core/build_excerpt.hpp"
#include "sitter/core/limits.hpp"
#include "sitter/core/method.hpp"
#include "sitter/core/text.hpp"

namespace sitter {

using Level = action::Log::Level;
using Outcome = BuildResult::Outcome;
using Server = RebuildReport::Server;

void Bridge::begin_rebuild(ClientRequest& request, const RebuildArguments& arguments) {
  const bool is_free = !rebuild_ || (rebuild_->is_cancelled && rebuild_->callers.empty());
  is_killed_ = false;
  if (!rebuild_) rebuild_ = Rebuild();
  rebuild_->callers.push_back(&request);
  if (!is_free) {
    if (has_rebuild_begun()) request.more().joined_after = build_->age(now_);
    return;
  }
  rebuild_->mode = arguments.mode;
  rebuild_->timeout = arguments.timeout;
  if (!rebuild_->is_cancelled) restart_rebuild();
}

void Bridge::on(const input::ReloadAsked&) {
  if (ending_ != Ending::none) return;
  is_killed_ = false;
  reload({"SIGHUP"});
}

/// For somebody else than the client. False if there will be one more after that which is on its
/// way, since what has changed meanwhile may not be in it.
bool Bridge::reload(const Reload& wanted) {
  using State = Rebuild::State;
  const bool is_free = !rebuild_ || (rebuild_->is_cancelled && rebuild_->callers.empty());
  // A server that is not up yet would only be waited for to be replaced. But who has called is owed
  // an answer, and saves might go on for ever.
  if (!is_free && rebuild_->state == State::starting && rebuild_->callers.empty()) {
    rebuild_->add_reload(wanted.is_by_watch);
    rebuild_->cause = wanted.cause;
    rebuild_->mode = wanted.how.mode;
    rebuild_->timeout = wanted.how.timeout;
    rebuild_->gen = kNoGeneration;
    restart_rebuild();
    return true;
  }
  if (!is_free && has_rebuild_begun()) {
    rebuild_->next = wanted;
    return false;
  }
  const bool is_new = !rebuild_;
  if (is_new) rebuild_ = Rebuild();
  rebuild_->add_reload(wanted.is_by_watch);
  if (!is_free) return true;
  rebuild_->cause = wanted.cause;
  rebuild_->mode = wanted.how.mode;
  rebuild_->timeout = wanted.how.timeout;
  if (is_new) restart_rebuild();
  return true;
}

/// What changes from now on may not be in it.
bool Bridge::has_rebuild_begun() const {
  using State = Rebuild::State;
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

void Bridge::on(const input::StatusAsked&) { inspect(Purpose::status_for_log); }

void Bridge::restart_rebuild() {
  rebuild_->is_cancelled = false;
  // It is also the one that was to come after it.
  if (const auto next = std::exchange(rebuild_->next, std::nullopt)) {
    rebuild_->add_reload(next->is_by_watch);
  }
  auto& callers = rebuild_->callers;
  callers.insert(callers.end(), rebuild_->next_callers.begin(), rebuild_->next_callers.end());
  rebuild_->next_callers.clear();
  if (rebuild_->mode == RebuildMode::kill_first) {
    rebuild_->state = Rebuild::State::finishing;
    rebuild_->deadline = now_.steady + config_.on_busy_wait;
  } else {
    start_build();
  }
}

/// Or what follows it, where nothing is built.
void Bridge::start_build() {
  if (config_.build_command.empty()) {
    rebuild_->state = Rebuild::State::starting;
    return;
  }
  rebuild_->state = Rebuild::State::building;
  rebuild_->deadline = now_.steady + rebuild_->timeout;
  build_.emplace(--last_build_, now_);
  if (changes_) changes_->on_build();
  has_progress_ = false;
  out_.push(action::StartBuild{build_->life.gen()});
}

void Bridge::stop_build(Outcome outcome) {
  build_->stop_for(outcome);
  const Milliseconds rung = config_.kill_grace;
  build_->life.take_down(EndReason::shut_down, {}, {Milliseconds::zero(), rung, rung}, now_, out_);
}

void Bridge::on_rebuild_timeout() {
  if (rebuild_->state != Rebuild::State::building) return;
  if (is_due(rebuild_->deadline, now_)) {
    rebuild_->deadline.reset();
    stop_build(Outcome::timed_out);
  }
  if (has_progress_ && next_progress_ <= now_.steady) tell_build_progress();
}

void Bridge::advance_rebuild() {
  using State = Rebuild::State;
  if (ending_ == Ending::stopping) return;
  if (rebuild_->state == State::finishing) {
    if (requests_.in_flight_count() > 0 && !is_due(rebuild_->deadline, now_)) return;
    rebuild_->deadline.reset();
    rebuild_->state = State::clearing;
    for (Child& child : children_) {
      child.life.take_down(EndReason::replaced, rebuild_->cause, ladder(), now_, out_);
    }
  }
  if (rebuild_->state == State::clearing && children_.empty() && !kill_) start_build();
  if (rebuild_->state == State::starting) advance_new_child();
}

/// The build has made a new server.
void Bridge::advance_new_child() {
  if (rebuild_->gen == kNoGeneration) {
    // Whatever is on its way was started from an earlier build.
    bool is_one_left = false;
    for (Child& child : children_) {
      if (child.serves()) continue;
      // What was promised to one that retires holds, and there are never three.
      if (!child.retires_at) {
        child.life.take_down(EndReason::replaced, {}, ladder(), now_, out_);
      }
      is_one_left = true;
    }
    if (is_one_left || kill_) return;
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
  rebuild_->state = Rebuild::State::reporting;
  inspect(Purpose::rebuild);
}

void Bridge::on_build_line(const input::ChildErrorLine& fact) {
  build_->add(fact.line, fact.bytes_cut);
  // Who has called since a build was cancelled waits for the next one, which counts anew.
  if (rebuild_->is_cancelled) return;
  has_progress_ = true;
  if (next_progress_ <= now_.steady) tell_build_progress();
}

/// Its newest line, for those who have asked for progress.
void Bridge::tell_build_progress() {
  has_progress_ = false;
  next_progress_ = now_.steady + limits::kBuildProgressInterval;
  const std::string line =
      build_->output.tail(build_->life.gen(), 1, limits::kBuildProgressLineMax);
  for (const ClientRequest* caller : rebuild_->callers) {
    const std::string_view token = caller->progress_token();
    if (token.empty()) continue;
    output_.on_progress(token, now_);
    output_.send(Outgoing::own(notification_line(
                     method_name(Method::progress),
                     fmt::format(R"json({{"progressToken":{},"progress":{},"message":{}}})json",
                                 token, build_->line_count(), json_string(line)))),
                 out_);
  }
}

void Bridge::on_build_over() {
  build_->finish(now_);
  has_progress_ = false;
  const BuildResult& result = last_build_result_.emplace(*build_->result());
  const bool is_good = result.outcome == Outcome::succeeded;
  out_.log(is_good ? Level::info : Level::warn, build_clause(result));
  rebuild_->deadline.reset();
  if (rebuild_->is_cancelled) {
    const bool is_wanted = !rebuild_->callers.empty() || rebuild_->is_reload;
    if (!is_wanted || ending_ == Ending::stopping) {
      reload_again(*std::exchange(rebuild_, std::nullopt));
    } else {
      restart_rebuild();
    }
  } else if (is_good) {
    rebuild_->state = Rebuild::State::starting;
  } else {
    RebuildReport report;
    report.server = serving() == nullptr ? Server::down : Server::kept;
    finish_rebuild(std::move(report));
  }
}

/// The child that was started from the new build has ended before it was told that it serves.
void Bridge::on_new_child_over(const ChildEnd& end, const std::string& stderr_tail) {
  RebuildReport report;
  report.server = serving() == nullptr ? Server::down : Server::kept;
  report.start_failure = end;
  report.stderr_tail = stderr_tail;
  finish_rebuild(std::move(report));
}

void Bridge::finish_rebuild(RebuildReport report) {
  const Rebuild rebuild = *std::exchange(rebuild_, std::nullopt);
  tell_rebuilt(rebuild, std::move(report));
  // The end of the child that served may have come while it was to be replaced.
  if (!has_child() && !kill_ && !is_killed_ && last_end_) restart_later(*last_end_);
  reload_again(rebuild);
}

/// One is over, and another was asked for meanwhile.
void Bridge::reload_again(const Rebuild& before) {
  if (!before.next || ending_ != Ending::none) return;
  reload(*before.next);
  rebuild_->callers.insert(rebuild_->callers.end(), before.next_callers.begin(),
                           before.next_callers.end());
}

void Bridge::tell_rebuilt(const Rebuild& rebuild, RebuildReport report) {
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
  const bool is_client_told =
      std::any_of(rebuild.callers.begin(), rebuild.callers.end(),
                  [](const ClientRequest* caller) { return !caller->is_control(); });
  if (!is_client_told && is_failure(report)) {
    reload_failure_ = reload_text(rebuild, report);
    notice_was_beside_structure_ = false;
  }
  if (rebuild.callers.empty()) return;
  const bool is_restarted = report.server == Server::restarted;
  if (is_restarted && has_notice()) {
    report.notice = pending_notice_text();
    if (is_client_told) note_notice_told();
  }
  for (ClientRequest* caller : rebuild.callers) {
    report.joined_after = caller->extra ? caller->extra->joined_after : std::nullopt;
    std::string line = tool_text_line(*caller, rebuild_text(report), is_failure(report));
    // The model may call a new tool in its next turn.
    if (is_restarted && relist_.is_waiting() && !caller->is_control()) {
      hold(*caller, std::move(line));
    } else {
      answer(*caller, Outgoing::own(std::move(line)));
    }
  }
}

/// What stands in the next result, with as much of the build as a notice may have.
std::string Bridge::reload_text(const Rebuild& rebuild, RebuildReport report) const {
  report.cause = rebuild.cause;
  if (report.build) {
    report.output =
        build_excerpt(build_->lines(), limits::kReloadLinesMax, limits::kNoticeBytesMax);
  }
  return rebuild_text(report);
}

/// One that nobody waits for any more is not finished.
void Bridge::on_rebuild_cancelled(ClientRequest& request) {
  const bool was_caller = std::erase(rebuild_->callers, &request) > 0;
  if (was_caller && rebuild_->callers.empty() && !rebuild_->is_reload) abandon_rebuild();
}

/// Somebody kills the server, so a file that was saved before does not bring it back.
void Bridge::drop_watched_reload() {
  if (rebuild_->next && rebuild_->next->is_by_watch) rebuild_->next.reset();
  if (!rebuild_->is_by_watch) return;
  rebuild_->is_reload = rebuild_->is_by_watch = false;
  if (rebuild_->callers.empty()) abandon_rebuild();
}

void Bridge::abandon_rebuild() {
  using State = Rebuild::State;
  if (rebuild_->state == State::building) {
    rebuild_->is_cancelled = true;
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

void Bridge::show_build_log(ClientRequest& request, const StderrRing::Query& query) {
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

bool Bridge::holds_waiting() const {
  using State = Rebuild::State;
  return rebuild_ && (rebuild_->state == State::finishing || rebuild_->state == State::clearing);
}

std::optional<StatusFacts::BuildFacts> Bridge::build_status() const {
  if (config_.build_command.empty()) return std::nullopt;
  StatusFacts::BuildFacts facts;
  facts.command = config_.build_command;
  facts.is_running = build_ && build_->is_running();
  facts.last = last_build_result_;
  return facts;
}

}  // namespace sitter
