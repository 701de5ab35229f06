#include <fmt/format.h>

#include <utility>

#include "core/base/text.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/report/news.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;
using State = ClientRequest::State;

namespace {

/// Why there is no server, for the instructions, which end it with a full stop.
std::string clause_with_core(const ChildEnd& end) {
  return end_clause(end) + (end.status.core.empty() ? "" : ". " + end.status.core);
}

}  // namespace

// ---- openings that no server answers

void News::answer_opening_ourselves(ClientRequest& request, std::string_view why,
                                    std::string_view stderr_tail, std::string_view build_output) {
  answer_opening_with(
      request, why,
      desk_.names().instructions_without_server(config_.command, why, stderr_tail, build_output));
}

void News::answer_slow_opening() {
  const Child* const child = servers_.generations().shown();
  const std::string stopped = child == nullptr ? "" : servers_.stopped_clause(*child);
  const std::string framing = child == nullptr ? "" : servers_.framing_clause(*child);
  const std::string why =
      servers_.is_unbuilt() && rebuilds_.rebuilder().is_building() ? rebuilds_.first_build_clause()
      : servers_.absence() != nullptr
          ? fmt::format("it can't be reached: {}",
                        brief(servers_.absence()->why(), limits::kAbsenceWhyMax))
      : !stopped.empty() ? stopped
      : !framing.empty()
          ? framing
          : fmt::format("it is still starting after {}", duration_text(config_.answer_within));
  answer_opening_with(*desk_.asked_opening(), why,
                      desk_.names().instructions_while_starting(config_.command, why));
}

void News::answer_opening_with(ClientRequest& request, std::string_view why,
                               std::string_view instructions) {
  const std::string& version = desk_.opening().answer_ourselves();
  // The client is told that there is nothing, so whatever a child brings is new to it.
  catalogs_.take_unknown_as_empty();
  out_.log(Level::warn, fmt::format("the opening is answered without the server: {}", why));
  desk_.answer_result(request, own_opening_result(version, config_.sitter_version, instructions));
}

void News::answer_second_openings() {
  desk_.opening().on_second_due();
  for (const State state : {State::waiting, State::sent}) {
    for (ClientRequest* request : desk_.requests().all(state)) {
      if (request->method != Method::initialize || !request->extra->answer_by) continue;
      if (!is_due(request->extra->answer_by, now_)) {
        desk_.opening().expect_second(*request->extra->answer_by);
        continue;
      }
      Child* const child =
          state == State::sent ? servers_.generations().find(request->gen) : nullptr;
      if (child != nullptr) child->late_opening = request->id();
      const std::string why = fmt::format("it has not answered initialize after {}",
                                          duration_text(config_.answer_within));
      answer_lost_opening(*request, why, {});
    }
  }
}

/// Answers a second opening for which no child has an answer.
void News::answer_lost_opening(ClientRequest& request, std::string_view why,
                               std::string_view stderr_tail, std::string_view build_output) {
  // The client has sent a newer `initialize`, and only the newer one changes the session.
  if (desk_.asked_opening() != nullptr) {
    desk_.answer_error(request, ErrorCode::internal_error, why);
    return;
  }
  desk_.begin_session_again(request);
  answer_opening_ourselves(request, why, stderr_tail, build_output);
}

// ---- requests

void News::fail(ClientRequest& request, const DeathReport& report) {
  if (report.end && request.fails_with_result()) {
    desk_.answer_tool_text(request, report_text(report), true);
    return;
  }
  const bool is_unbuilt = report.end && report.end->is_command_missing;
  if (request.method == Method::server_discover && (!servers_.traits().has_address || is_unbuilt)) {
    // The codes of the stateless revision would prove to some clients that the server speaks it.
    desk_.answer_error(request, ErrorCode::method_not_found, error_message(report));
    return;
  }
  desk_.answer_error(request, ErrorCode::internal_error, error_message(report), error_data(report));
}

void News::fail_undone(ClientRequest& request, const DeathReport& report) {
  if (is_list(request.method) && request.is_first_page) {
    answer_last_list(request);
  } else {
    fail(request, report);
  }
}

void News::fail_waiting(const DeathReport& report) {
  desk_.streams().grant_waiting(desk_.turn());
  while (desk_.requests().waiting_count() > 0) {
    const auto [request, order, line, since] = desk_.requests().next_waiting();
    if (request == nullptr) continue;
    if (request->method == Method::initialize && ending_.is_none()) {
      answer_lost_opening(*request, clause_with_core(*report.end), report.stderr_tail,
                          report.build_output);
    } else {
      fail_undone(*request, report);
    }
  }
}

DeathReport News::report_of(const std::optional<ChildEnd>& end, std::string stderr_tail,
                            Reach reach) const {
  return {reach,
          end,
          std::move(stderr_tail),
          config_.startup_timeout,
          desk_.names().name(Builtin::child_stderr),
          desk_.names().first_name({Builtin::kill, Builtin::rebuild}),
          desk_.names().name(Builtin::build_log),
          config_.needs_no_build || rebuilds_.is_on()};
}

void News::answer_waiting(const ChildEnd& end, std::string stderr_tail) {
  if (ClientRequest* const asked = desk_.asked_opening()) {
    answer_opening_ourselves(*asked, end_clause(end));
  }
  fail_waiting(report_of(end, std::move(stderr_tail), Reach::not_delivered));
}

void News::on_start_failed(const ChildEnd& end, const std::string& stderr_tail, bool is_repeated,
                           const std::string& build_output) {
  if (ClientRequest* const asked = desk_.asked_opening()) {
    answer_opening_ourselves(*asked, clause_with_core(end), stderr_tail, build_output);
  }
  DeathReport report = report_of(end, stderr_tail, Reach::not_delivered);
  report.is_repeated = is_repeated;
  report.build_output = build_output;
  const auto waiting = desk_.requests().all(State::waiting);
  const bool is_told = std::any_of(waiting.begin(), waiting.end(), [](const ClientRequest* one) {
    return one->method == Method::tools_call;
  });
  if (is_told) notices_.on_crash_told(core_line(end));
  fail_waiting(report);
}

void News::fail_unbuilt() {
  const ChildEnd& end = *servers_.history().last_end();
  servers_.starts().on_failed({end, {}});
  // The answers tell it.
  notices_.forget_reload_failure();
  on_start_failed(end, {}, false, rebuilds_.rebuilder().build()->excerpt());
}

void News::fail_refused(Child& child) {
  if (!std::exchange(child.has_held_errors, false)) return;
  ChildEnd end = servers_.end_for(EndReason::opening_refused, &child);
  end.why = child.handshake.refusal();
  const DeathReport report =
      report_of(end, servers_.ring().last_words(child.gen()), Reach::refused);
  for (ClientRequest* request : servers_.held_refusals(child.gen())) fail_undone(*request, report);
}

bool News::fail_requests_of(const Servers::Ended& ended) {
  const Generation gen = ended.gen();
  for (ClientRequest* request : servers_.held_refusals(gen)) answer_held(*request);
  servers_.on_gone(gen);
  const DeathReport report = report_of(ended.end, ended.tail, Reach::in_flight);
  bool is_told = false;
  for (ClientRequest* request : desk_.requests().at_child(gen)) {
    is_told =
        is_told || (request->method == Method::tools_call && request->state != State::cancelled);
    on_child_lost(ended.child, *request, report, ended.is_deliberate);
  }
  const std::string core = core_line(ended.end);
  if (!is_told && !core.empty()) notices_.on_crash(core);
  return is_told;
}

void News::fail_requests_of(const Servers::RestartedItself& restarted) {
  const Child& former = restarted.former;
  for (ClientRequest* request : servers_.held_refusals(former.gen())) {
    const std::string_view error = member(request->extra->answer.text(), "error");
    if (!former.handshake.was_opened()) {
      answer_held(*request);
    } else if (!request->is_repeatable() &&
               !former.own_restart.explains(error, method_name(request->method))) {
      if (!former.own_restart.knows_refusal()) servers_.tell_doubt(*request);
      answer_held(*request);
    } else if (request->has_line() && !request->is_retried &&
               desk_.requests().may_wait(request->extra->line.size())) {
      desk_.answers().on_retried(*request);
      desk_.requests().retry(*request, now_.steady);
    } else {
      fail_undone(*request, report_of(restarted.end, restarted.tail, Reach::refused));
    }
  }
  const DeathReport report = report_of(restarted.end, restarted.tail, Reach::in_flight);
  for (ClientRequest* request : desk_.requests().at_child(former.gen())) {
    on_child_lost(former, *request, report, false);
  }
}

/// The child that had this request is over.
void News::on_child_lost(const Child& dead, ClientRequest& request, const DeathReport& report,
                         bool is_deliberate) {
  if (request.state == ClientRequest::State::cancelled) {
    desk_.requests().take(request);
  } else if (request.method == Method::ping) {
    desk_.answer_result(request, "{}");
  } else if (request.method == Method::initialize && desk_.asked_opening() == nullptr) {
    answer_lost_opening(request, clause_with_core(*report.end), report.stderr_tail);
  } else if (request.method == Method::server_discover && !desk_.opening().envelope().is_known()) {
    fail(request, report);
  } else if (!dead.has_started() && report.end->reason != EndReason::connection_lost) {
    // If this request has killed the child, it would kill the next children too.
    fail_undone(request, report);
  } else if (request.has_line() && request.is_repeatable() && !request.is_retried &&
             !is_deliberate && !servers_.killer().is_killing() && ending_.is_none() &&
             desk_.requests().may_wait(request.extra->line.size())) {
    desk_.answers().on_retried(request);
    desk_.requests().retry(request, now_.steady);
  } else {
    fail(request, report);
  }
}

void News::answer_build_waiters() {
  for (ClientRequest* request :
       desk_.requests().waiting_since(now_.steady - limits::kBuildPatience)) {
    const std::string why =
        fmt::format("this request was not delivered, because {}; call again to wait longer{}",
                    rebuilds_.progress_words(), rebuilds_.hint());
    if (is_list(request->method) && request->is_first_page) {
      answer_last_list(*request);
    } else if (request->fails_with_result()) {
      desk_.answer_tool_text(*request, fmt::format("[mcp-sitter] {}.", why), true);
    } else {
      desk_.answer_error(*request, ErrorCode::internal_error, why);
    }
  }
}

// ---- a daemon that cannot be reached

void News::on_absent(Generation gen, const std::string& why, Milliseconds again_after) {
  if (servers_.on_absent(gen, why, again_after)) answer_waiting_lists();
}

void News::answer_waiting_lists() {
  if (!answers_lists_meanwhile()) return;
  for (ClientRequest* request : desk_.requests().all(State::waiting)) {
    if (is_list(request->method) && request->is_first_page) answer_last_list(*request);
  }
}

void News::answer_undelivered() {
  const auto patience = servers_.absence_patience();
  if (!patience) return;
  const DeathReport report = report_of(servers_.absence_end(), {}, Reach::not_delivered);
  for (ClientRequest* request : desk_.requests().waiting_since(now_.steady - *patience, true)) {
    fail_undone(*request, report);
  }
}

void News::on(const fact::RequestRefused& fact) {
  Child* const child = servers_.generations().find(fact.gen);
  const Message* const message = child == nullptr ? nullptr : desk_.read_kept(fact.line);
  if (message == nullptr) return;
  ClientRequest* const request =
      message->id.empty() ? nullptr : desk_.requests().find_sent(message->id, fact.gen);
  if (request == nullptr) {
    child->absence.keep(fact.line);
  } else if (request->state == State::cancelled) {
    desk_.requests().take(*request);
  } else if (request->method == Method::ping) {
    desk_.answer_result(*request, "{}");
  } else if (const auto reason = child->life.taken_down_for();
             reason == EndReason::killed_by_sitter || reason == EndReason::shut_down) {
    ChildEnd end = servers_.end_for(*reason, child);
    end.why = child->life.why();
    fail_undone(*request, report_of(end, {}, Reach::not_delivered));
  } else if (fact.is_unknown_session && request->is_retried) {
    desk_.answer_failure(
        *request, ErrorCode::internal_error,
        fmt::format("[mcp-sitter] {}, in a new session as well. The request was not "
                    "carried out.",
                    fact.why));
  } else if (!desk_.requests().may_wait(fact.line.text().size())) {
    ChildEnd end = servers_.end_for(EndReason::connection_lost, child);
    end.why = fact.why;
    fail_undone(*request, report_of(end, {}, Reach::not_delivered));
  } else {
    if (!request->has_line()) desk_.requests().keep(*request, OwnedLine(fact.line.text()));
    if (fact.is_unknown_session) {
      desk_.requests().retry(*request, now_.steady);
    } else {
      desk_.requests().wait_again(*request, now_.steady);
    }
  }
  if (fact.again_after) {
    on_absent(fact.gen, fact.why, *fact.again_after);
  } else {
    child->absence.on_losing();
  }
}

void News::on(const fact::RequestLost& fact) {
  Child* const child = servers_.generations().find(fact.gen);
  const Message* const message = child == nullptr ? nullptr : desk_.read_kept(fact.line);
  if (message == nullptr || message->id.empty()) return;
  ClientRequest* const request = desk_.requests().find_sent(message->id, fact.gen);
  if (request == nullptr) {
    if (servers_.repeat(*child, fact, *message)) answer_waiting_lists();
    return;
  }
  ChildEnd end = servers_.end_for(EndReason::connection_lost, child);
  end.why = fact.why;
  on_child_lost(*child, *request,
                report_of(end, servers_.ring().last_words(fact.gen), Reach::in_flight), false);
}

}  // namespace sitter
