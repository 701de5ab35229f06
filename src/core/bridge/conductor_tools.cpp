#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/starts.hpp"
#include "core/client/opening.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/report/builtin_arguments.hpp"
#include "core/report/catalogs.hpp"
#include "core/report/kill.hpp"
#include "core/report/lints.hpp"
#include "core/report/notices.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {

void Conductor::inspect(Purpose purpose, std::optional<RequestHandle> request) {
  const Child* const child = generations_.shown();
  const bool is_shown = purpose == Purpose::status || purpose == Purpose::status_for_log ||
                        purpose == Purpose::binary_info;
  out_.push(order::InspectBinary{child == nullptr ? kNoGeneration : child->gen(),
                                 purpose == Purpose::kill_check,
                                 is_shown,
                                 {purpose, request}});
}

void Conductor::on_builtin(ClientRequest& request, Builtin builtin, const Message& message) {
  requests_.mark_ours(request);
  if (message.params.has_task) {
    answer_error(request, ErrorCode::method_not_found,
                 fmt::format("{} can't be run as a task", names_.name(builtin)));
    return;
  }
  run_builtin(request, builtin, member(message.params_raw, "arguments"));
}

void Conductor::run_builtin(ClientRequest& request, Builtin builtin, std::string_view arguments) {
  const auto with = [&](const auto& parsed, auto run) {
    if (const auto* const error = std::get_if<ArgumentError>(&parsed)) {
      answer_tool_text(request, *error, true);
    } else {
      run(std::get<0>(parsed));
    }
  };
  switch (builtin) {
    case Builtin::status:
    case Builtin::binary_info:
      return with(parse_no_arguments(arguments), [&](NoArguments) {
        // A mended server is started first, so that the status says so.
        start_if_mended();
        inspect(builtin == Builtin::status ? Purpose::status : Purpose::binary_info,
                request.handle());
      });
    case Builtin::kill:
      return with(parse_kill_arguments(arguments), [&](const KillArguments& kill) {
        if (kill.scope == KillScope::same_executable && !config_.allows_wide_kill) {
          // First the bridge finds out which foreign processes this kill would end.
          inspect(Purpose::kill_check, request.handle());
        } else {
          begin_kill(request, kill.scope);
        }
      });
    case Builtin::child_stderr:
      return with(parse_stderr_arguments(arguments), [&](const StderrRing::Query& query) {
        const auto [text, is_error] = ring_.text(query);
        const bool is_client = !request.is_control();
        answer_tool_text(request, text, is_error);
        if (is_client) start_if_mended();
      });
    case Builtin::rebuild:
      return with(parse_rebuild_arguments(arguments),
                  [&](const RebuildArguments& rebuild) { begin_rebuild(request, rebuild); });
    case Builtin::build_log:
      return with(parse_build_log_arguments(arguments),
                  [&](const StderrRing::Query& query) { show_build_log(request, query); });
    case Builtin::call:
      assert(false);  // `pass_call` handles it.
  }
}

/// Passes on a call of a tool that the client does not know, as if the client had called the tool
/// itself.
void Conductor::pass_call(ClientRequest& request, const Message& message, Line line) {
  const auto [name, arguments] = members<2>(message.params_raw, {"name", "arguments"});
  const auto parsed = parse_call_arguments(arguments);
  const auto* const call = std::get_if<CallArguments>(&parsed);
  const std::string wrong = call == nullptr ? std::get<ArgumentError>(parsed) : wrong_call(*call);
  if (!wrong.empty()) {
    requests_.mark_ours(request);
    answer_failure(request, ErrorCode::invalid_params, wrong);
    return;
  }
  request.tool = call->tool;
  request.more().is_passed_call = true;
  Edits edits(line);
  edits.replace(name, json_string(call->tool));
  edits.replace(arguments, call->arguments);
  const OwnedLine changed(edits.apply());
  pass_on(request, message, changed.line(), Outgoing::own(changed.text()));
}

/// Refuses a waiting call if it does not fit the tools of the present server.
bool Conductor::refuse_waiting_call(ClientRequest& request, const Message& message) {
  if (!request.extra || !request.extra->is_passed_call) return false;
  const std::string wrong =
      wrong_call({request.tool, std::string(member(message.params_raw, "arguments"))});
  if (!wrong.empty()) answer_failure(request, ErrorCode::invalid_params, wrong);
  return !wrong.empty();
}

/// What is wrong with the call, as far as the last list of the tools shows; empty if nothing is
/// wrong.
std::string Conductor::wrong_call(const CallArguments& call) {
  if (names_.find(call.tool)) {
    return fmt::format("{} is a tool of mcp-sitter: call it directly", brief(call.tool, 100));
  }
  // Without a complete list of a child that serves, only the server itself knows its tools.
  const Child* const child = generations_.serving();
  if (child == nullptr || child->lists != Child::Lists::with_tools) return {};
  return complaint_about(call, catalogs_->tools());
}

void Conductor::on(const fact::BinaryInspected& fact) {
  binary_ = fact.facts;
  const Look& look = fact.look;
  ClientRequest* const request = look.request ? requests_.find(*look.request) : nullptr;
  switch (look.purpose) {
    case Purpose::notice:
      amend_notice();
      break;
    case Purpose::remember:
      break;
    case Purpose::status_for_log:
      out_.log(order::Log::Level::warn, status_text(status(true)));
      break;
    case Purpose::rebuild:
      if (rebuilder_->waits_for(Rebuilder::State::look)) on_looked_at_new_child();
      break;
    case Purpose::kill:
      if (killer_->has_foreign()) {
        killer_->add_note(foreign_kill_words(config_.url, fact.listening));
      }
      finish_kill();
      break;
    case Purpose::kill_check:
      if (request == nullptr) break;
      if (fact.shared) {
        answer_tool_text(*request, refusal_text(*fact.shared), true);
      } else if (!ending_.is_stopping()) {
        // The child has its own executable, so the sweep ends no foreign process.
        begin_kill(*request, KillScope::automatic);
      }
      break;
    case Purpose::status:
      if (request == nullptr) break;
      answer_tool_text(*request, status_text(status(request->is_control())), false);
      break;
    case Purpose::binary_info:
      if (request != nullptr) answer_tool_text(*request, binary_text(binary_, now_.wall), false);
      break;
  }
}

void Conductor::begin_kill(ClientRequest& request, KillScope scope) {
  starts_->cancel_restart();
  const bool had_left_process = left_process_ != kNoGeneration;
  take_back_process(names_.name(Builtin::kill));
  // Only a running child shows which file is behind a wrapper.
  if (!killer_->is_killing() && !generations_.is_empty()) inspect(Purpose::remember);
  killer_->begin(request.handle(), scope);
  for (const Child& child : generations_) {
    if (is_foreign(&child) && !had_left_process) killer_->on_foreign();
  }
  ChildEnd end = end_for(EndReason::killed_by_sitter);
  end.is_foreign = is_foreign(generations_.shown());
  end.why = request.is_control() ? "ctl kill" : names_.name(Builtin::kill);
  if (ClientRequest* const asked = opening()) answer_opening_ourselves(*asked, end_clause(end));
  const Child* const shown = generations_.shown();
  std::string tail = shown == nullptr ? std::string() : ring_.tail(shown->gen());
  // A build is about to follow, so no waiting request may start the server again.
  fail_waiting(report_of(end, std::move(tail), DeathReport::Reach::not_delivered));
  generations_.take_down_all(EndReason::killed_by_sitter, end.why, ladder(), now_, out_);
  // The rebuild is given up after the children are taken down. Otherwise its new child would count
  // as replaced.
  if (rebuilder_->is_on()) give_up_rebuild(end.why);
}

void Conductor::on(const fact::ImageSwept& fact) {
  if (killer_->on_swept(fact, now_)) inspect(Purpose::kill);
}

void Conductor::finish_kill() {
  const auto done = killer_->finish(binary_.path);
  if (!done) return;
  const std::string text = kill_text(done->report);
  for (const RequestHandle caller : done->callers) answer_tool_text(caller, text, false);
}

/// The same words as in mcp-sitter 0.2.0, because its users may compare them.
std::string Conductor::state_word() const {
  if (killer_->is_killing()) return "killing";
  if (const Child* const child = generations_.shown()) {
    if (child->is_ready()) return "ready";
    return child->life.taken_down_for() ? "killing" : "running";
  }
  const auto& last = history_->last_end();
  if (!last) return "not-started";
  if (last->reason == EndReason::not_executed) return fmt::format("spawn-failed: {}", last->why);
  if (last->reason == EndReason::killed_by_sitter) return "down";
  if (last->reason == EndReason::given_up) return "given up";
  if (last->is_foreign || last->reason == EndReason::connection_lost ||
      last->reason == EndReason::session_lost) {
    return reason_words(*last);
  }
  return fmt::format("exited ({})", last->status.code);
}

/// A person has the commands of `mcp-sitter ctl` and no tools.
StatusFacts Conductor::status(bool is_for_person) const {
  const auto clause_of = [&](const ChildEnd& end) {
    if (!end.is_unbuilt) return end_clause(end);
    return end_clause(end) +
           (is_for_person ? tool_hint("mcp-sitter ctl reload", "builds again and shows the output")
                          : tool_hint(names_.name(Builtin::build_log), "shows the build"));
  };
  const auto since = [this](Now then) {
    return std::chrono::duration_cast<Milliseconds>(now_.steady - then.steady);
  };
  StatusFacts facts;
  facts.is_tool = is_tool();
  facts.child_command = config_.command;
  facts.child_args = config_.arguments;
  if (!config_.working_directory.empty()) facts.working_directory = config_.working_directory;
  facts.binary_path = binary_.path;
  facts.child_state = state_word();
  facts.child_tool_count = static_cast<std::int64_t>(catalogs_->tools().count());
  facts.child_tool_bytes = static_cast<std::int64_t>(catalogs_->tools().bytes());
  const Child* const shown = generations_.shown();
  // A description that could not be read is not the one in use.
  facts.spawn_count = is_tool() && shown != nullptr ? shown->gen() : generations_.last();
  facts.kill_count = killer_->count();
  facts.last_kill = history_->last_end_at();
  if (const auto& last = history_->last_end()) {
    facts.last_kill_reason = kill_reason_words(*last);
    facts.last_end = clause_of(*last);
    facts.was_foreign = last->is_foreign;
    facts.last_end_age = std::chrono::floor<Milliseconds>(now_.wall - *history_->last_end_at());
    if (has_exited(*last)) facts.previous_exit_code = last->status.code;
    if (last->reason != EndReason::not_executed) facts.previous_lifetime = last->lifetime;
  }
  facts.last_startup = history_->last_startup();
  facts.tools_diff = catalogs_->last_tools_diff();
  facts.sitter_uptime = since(begun_);
  facts.sitter_version = config_.sitter_version;
  if (opening_->session().is_asked()) {
    facts.protocol_era = "legacy";
    if (opening_->session().is_answered())
      facts.protocol_version = opening_->session().negotiated_version;
  } else if (opening_->envelope().is_known()) {
    facts.protocol_era = "modern";
    facts.protocol_version = opening_->envelope().version();
  }
  facts.binary_stale = binary_.stale;
  facts.requests_in_flight = static_cast<std::int64_t>(requests_.in_flight_count());
  facts.requests_waiting = static_cast<std::int64_t>(requests_.waiting_count());
  if (const auto& failure = history_->last_failure()) {
    const ChildEnd& end = failure->end;
    facts.last_failure = {{clause_of(end),
                           {},
                           end.status.signal,
                           failure->stderr_tail,
                           std::chrono::floor<Milliseconds>(now_.wall - failure->at)}};
    if (has_exited(end)) facts.last_failure->exit_code = end.status.code;
  }
  facts.history.assign(history_->lives().begin(), history_->lives().end());
  facts.stdout_pollution = history_->noise();
  if (rebuilder_->is_on()) facts.rebuild = rebuild_clause();
  facts.build = build_status();
  facts.watch = watch_status();
  const RestartPolicy& restarts = starts_->restarts();
  facts.restart = {restarts.when(), restarts.count(), restarts.max()};
  facts.lint = lints_->all();
  if (generations_.is_empty()) return facts;

  const Child& child = *generations_.shown();
  if (child.life.has_run()) {
    facts.child_alive = true;
    if (child.life.pid() != 0) facts.child_pid = child.life.pid();
    facts.child_uptime = since(child.life.started());
    facts.history.push_back(History::Life::of(child.life, *facts.child_uptime));
    if (facts.history.size() > limits::kHistoryMax) facts.history.erase(facts.history.begin());
  }
  facts.child_ready = child.is_ready();
  if (!facts.child_ready && !child.life.taken_down_for()) {
    facts.starting = {child.gen(), since(child.life.started()), child.cause};
  }
  if (const Absence* const away = absence()) {
    facts.absence = {away->why(), away->since().wall, since(away->since()), {}};
    const auto again_at = away->again_at();
    if (again_at && *again_at > now_.steady) {
      facts.absence->again_in = std::chrono::duration_cast<Milliseconds>(*again_at - now_.steady);
    }
  }
  const OpeningResult& opened = child.handshake.opened_with();
  if (!opened.server_info.empty()) facts.server_info = opened.server_info;
  if (!opened.protocol_version.empty()) facts.child_protocol_version = opened.protocol_version;
  if (const std::string version = version_of(opened); !version.empty()) {
    facts.binary_version = version;
  }
  return facts;
}

}  // namespace sitter
