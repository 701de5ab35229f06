#include <fmt/format.h>

#include <chrono>

#include "core/base/text.hpp"
#include "core/child/servers.hpp"

namespace sitter {

ServerStatus Servers::status(bool is_for_person) const {
  const auto clause_of = [&](const ChildEnd& end) {
    if (!end.is_unbuilt) return end_clause(end);
    return end_clause(end) +
           (is_for_person ? tool_hint("mcp-sitter ctl reload", "builds again and shows the output")
                          : tool_hint(desk_.names().name(Builtin::build_log), "shows the build"));
  };
  const auto since = [this](Now then) {
    return std::chrono::duration_cast<Milliseconds>(now_.steady - then.steady);
  };
  ServerStatus status;
  const Child* const shown = generations_.shown();
  status.is_tool = !traits_.has_process;
  status.child_state = state_word();
  // A description that could not be read is not the one in use.
  status.spawn_count = status.is_tool && shown != nullptr ? shown->gen() : generations_.last();
  status.kill_count = killer_.count();
  status.last_kill = history_.last_end_at();
  if (const auto& last = history_.last_end()) {
    status.last_kill_reason = kill_reason_words(*last);
    status.last_end = clause_of(*last);
    status.was_foreign = last->is_foreign;
    status.last_end_age = std::chrono::floor<Milliseconds>(now_.wall - *history_.last_end_at());
    if (has_exited(*last)) status.previous_exit_code = exit_code_of(last->status);
    if (last->reason != EndReason::not_executed) status.previous_lifetime = last->lifetime;
  }
  status.last_startup = history_.last_startup();
  if (const auto& failure = history_.last_failure()) {
    const ChildEnd& end = failure->end;
    status.last_failure = {clause_of(end),
                           has_exited(end) ? std::optional(exit_code_of(end.status)) : std::nullopt,
                           end.status.signal,
                           failure->stderr_tail,
                           std::chrono::floor<Milliseconds>(now_.wall - failure->at),
                           end.status.core,
                           failure->stack};
  }
  status.history.assign(history_.lives().begin(), history_.lives().end());
  status.stdout_pollution = history_.noise();
  const RestartPolicy& restarts = starts_.restarts();
  status.restart = {restarts.when(), restarts.count(), restarts.max()};
  if (shown == nullptr) return status;

  if (shown->life.has_run()) {
    status.child_alive = true;
    if (shown->life.pid() != 0) status.child_pid = shown->life.pid();
    status.child_uptime = since(shown->life.started());
    status.history.push_back(History::Life::of(shown->life, *status.child_uptime));
    if (status.history.size() > limits::kHistoryMax) status.history.erase(status.history.begin());
  }
  status.child_ready = shown->is_ready();
  if (!status.child_ready && !shown->life.taken_down_for()) {
    status.starting = {shown->gen(), since(shown->life.started()), shown->cause};
  }
  status.stopped = stopped_clause(*shown);
  status.debugger = shown->debugger.name();
  status.activity = shown->activity;
  if (const Absence* const away = absence()) {
    status.absence = {away->why(), away->since().wall, since(away->since()), {}};
    const auto again_at = away->again_at();
    if (again_at && *again_at > now_.steady) {
      status.absence->again_in = std::chrono::duration_cast<Milliseconds>(*again_at - now_.steady);
    }
  }
  const OpeningResult& opened = shown->handshake.opened_with();
  if (!opened.server_info.empty()) status.server_info = opened.server_info;
  if (!opened.protocol_version.empty()) status.child_protocol_version = opened.protocol_version;
  return status;
}

std::string Servers::state_word() const {
  if (killer_.is_killing()) return "killing";
  if (const Child* const child = generations_.shown()) {
    if (child->is_ready()) return "ready";
    return child->life.taken_down_for() ? "killing" : "running";
  }
  const auto& last = history_.last_end();
  if (!last) return "not-started";
  if (last->reason == EndReason::not_executed) return fmt::format("spawn-failed: {}", last->why);
  if (last->reason == EndReason::killed_by_sitter) return "down";
  if (last->reason == EndReason::given_up) return "given up";
  if (last->is_foreign || last->reason == EndReason::connection_lost ||
      last->reason == EndReason::session_lost) {
    return reason_words(*last);
  }
  return fmt::format("exited ({})", exit_code_text(last->status));
}

}  // namespace sitter
