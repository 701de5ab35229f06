#include "core/report/death_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/text.hpp"
#include "core/child/starts.hpp"

namespace sitter {
namespace {

/// A child that never ran writes nothing, and a daemon that was not started here writes elsewhere.
bool may_have_stderr(const ChildEnd& end) {
  return end.reason != EndReason::not_executed && !end.is_foreign;
}

bool is_delivered(const DeathReport& report) {
  return report.reach != DeathReport::Reach::not_delivered;
}

std::string what_happened(const DeathReport& report) {
  return report.end ? end_clause(*report.end)
                    : "the server has stopped reading its input, but it is still running";
}

std::string effect(const DeathReport& report, std::string_view request) {
  switch (report.reach) {
    case DeathReport::Reach::in_flight:
      return fmt::format("This {} was running then and may or may not have taken effect", request);
    case DeathReport::Reach::refused:
      return fmt::format("It refused this {}, which had no effect", request);
    case DeathReport::Reach::not_delivered:
      break;
  }
  return fmt::format("This {} was not delivered and had no effect", request);
}

/// Advice for a server that may have become a server of the other era.
std::string if_of_other_era(std::string_view habit) {
  return fmt::format(
      ". Some servers of a revision of MCP before 2026-07-28 {}, since such a session begins with "
      "initialize; if this server has become one of them, reconnect the client to it",
      habit);
}

std::string more_time(const DeathReport& report) {
  return fmt::format(
      "Fix the cause and call again, or give the server more time: the limit is {}, set by "
      "--startup-timeout (0 = none)",
      duration_text(report.startup_timeout));
}

/// What starts a server that has ended, or opens it again.
std::string next_request(const DeathReport& report) {
  return report.end->is_foreign ? "the next request opens another session"
                                : "the next request starts the server";
}

std::string next_step(const DeathReport& report) {
  if (!report.end) {
    return fmt::format("So {}, and then try again", restart_clause(report.restart_tool));
  }
  if (report.is_repeated) {
    return fmt::format(
        "This is how the last start failed, and no new start was tried: after several "
        "failures there is at most one start in {}; call again in a moment",
        duration_text(limits::kStartInterval));
  }
  if (report.end->may_be_of_other_era) {
    return "Fix the cause if need be and call again: the next request starts the server" +
           if_of_other_era("end like this");
  }
  switch (report.end->reason) {
    case EndReason::replaced:
    case EndReason::restarted_itself:
      return "Call again: the new server gets it";
    case EndReason::killed_by_sitter:
      if (report.end->has_no_process) return "Call again";
      if (report.needs_no_build) return "Call again: " + next_request(report);
      return fmt::format("Call again when it is {}: {}",
                         report.end->is_foreign ? "restarted" : "built", next_request(report));
    case EndReason::ended_from_outside:
    case EndReason::exited:
      return "Call again: " + next_request(report);
    case EndReason::connection_lost:
      if (report.end->is_unseen && !report.end->had_no_child) {
        return "Call again if it does no harm to call twice";
      }
      return "Start the server if it is not running, or fix what is named here, and call again: "
             "requests wait for it";
    case EndReason::session_lost:
      return "Call again: " + next_request(report);
    case EndReason::opening_timed_out:
    case EndReason::said_nothing:
      if (!report.end->hint.empty()) return "Fix that and call again: " + next_request(report);
      if (report.end->reason == EndReason::opening_timed_out) return more_time(report);
      return more_time(report) + if_of_other_era("keep silent like this");
    case EndReason::given_up:
      return "It may still be running, so end it by hand; the next request starts a new one";
    case EndReason::shut_down:
      return "The session is ending";
    case EndReason::opening_refused:
      return "When that is fixed, call again: " + next_request(report);
    case EndReason::not_executed:
    case EndReason::ended_in_opening:
      return "Fix the cause and call again: the next request starts the server";
    case EndReason::crashed:
    case EndReason::closed_stdout:
    case EndReason::closed_stdin:
    case EndReason::wrote_rubbish:
      break;
  }
  return "Fix the cause if need be and call again: " + next_request(report);
}

}  // namespace

std::string report_text(const DeathReport& report) {
  std::string text =
      fmt::format("[mcp-sitter] {}. {}.", what_happened(report), effect(report, "call"));
  if (!report.stderr_tail.empty()) {
    text += "\nIts last words on stderr:\n" + report.stderr_tail;
  } else if (!report.build_output.empty()) {
    text += fmt::format("\nOutput of the build{}:\n{}", tool_hint(report.log_tool),
                        report.build_output);
  } else if (may_have_stderr(*report.end)) {
    text += "\nIt wrote nothing to stderr.";
  }
  if (!report.end->status.core.empty()) text += fmt::format("\n{}.", report.end->status.core);
  text += "\n" + next_step(report) + ".";
  if (!report.stderr_tail.empty() && !report.stderr_tool.empty()) {
    text += fmt::format(" {} shows more.", report.stderr_tool);
  }
  return text;
}

std::string error_message(const DeathReport& report) {
  return fmt::format("[mcp-sitter] {}. {}. {}.", what_happened(report), effect(report, "request"),
                     next_step(report));
}

std::string error_data(const DeathReport& report) {
  nlohmann::ordered_json data;
  data["reason"] = report.end ? reason_words(*report.end) : "stopped reading";
  data["delivered"] = is_delivered(report);
  if (report.end) {
    if (has_exited(*report.end)) {
      const ExitStatus& status = report.end->status;
      data["exitCode"] = exit_code_of(status);
      if (status.by_signal()) data["signal"] = status.signal;
      if (const auto words = system_code_words(status); !words.empty()) data["exitWords"] = words;
    }
    if (report.end->reason != EndReason::not_executed && !report.end->had_no_child) {
      data["lifetimeMs"] = report.end->lifetime.count();
    }
    if (!report.end->why.empty()) data["why"] = report.end->why;
  }
  if (!report.stderr_tail.empty()) data["stderr"] = report.stderr_tail;
  if (!report.build_output.empty()) data["buildOutput"] = report.build_output;
  return data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace sitter
