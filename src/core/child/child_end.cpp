#include "core/child/child_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "core/base/text.hpp"

namespace sitter {
namespace {

constexpr std::size_t kStartFailureBytesMax = 1000;

/// The numbers with which programs end on Windows when they do not end by themselves: NTSTATUS
/// (MS-ERREF 2.3.1), and exceptions of the runtimes of languages.
struct SystemCode {
  std::uint32_t number;
  std::string_view words;
};
constexpr SystemCode kSystemCodes[] = {
    {0x80000003, "breakpoint"},
    {0x80131623, "Environment.FailFast of .NET"},
    {0xC0000005, "access violation"},
    {0xC0000006, "a page of a file could not be read"},
    {0xC0000017, "out of memory"},
    {0xC000001D, "illegal instruction"},
    {0xC000007B, "a DLL of another architecture"},
    {0xC0000094, "division by zero"},
    {0xC0000095, "integer overflow"},
    {0xC0000096, "privileged instruction"},
    {0xC00000FD, "stack overflow"},
    {0xC000012D, "out of memory"},
    {0xC0000135, "a DLL was not found"},
    {0xC0000138, "an entry point was not found in a DLL"},
    {0xC0000139, "an entry point was not found in a DLL"},
    {0xC000013A, "Ctrl-C"},
    {0xC0000142, "a DLL could not be initialized"},
    {0xC0000374, "heap corruption"},
    // abort, and the checks of compilers and of the system, end a program in this way (__fastfail).
    {0xC0000409, "stack buffer overrun or abort"},
    {0xC0000420, "assertion failure"},
    {0xC0000428, "a signature is not valid"},
    {0xE0434352, "unhandled .NET exception"},
    {0xE06D7363, "unhandled C++ exception"},
};

std::string why_words(const ChildEnd& end) {
  if (end.why.empty()) return "no reason known";
  return brief(end.why, kStartFailureBytesMax);
}

std::string plain_clause(const ChildEnd& end) {
  const std::string status = status_words(end.status);
  const std::string after = duration_text(end.lifetime);
  // The end of the session is reported even if no child was there.
  const std::string after_its_life = end.had_no_child ? "" : " after " + after;
  switch (end.reason) {
    case EndReason::not_executed:
      return "the server could not be started: " + why_words(end);
    case EndReason::ended_in_opening:
      return fmt::format(
          "the server could not be started: it ended ({}) after {}, before it had answered its "
          "opening",
          status, after);
    case EndReason::opening_timed_out:
      if (end.is_foreign) return "the server had not answered its opening after " + after;
      return fmt::format(
          "the server could not be started: it had not answered its opening after {}{} and was "
          "taken down",
          after, end.why.empty() ? "" : fmt::format(" ({})", end.why));
    case EndReason::said_nothing:
      if (end.is_foreign) return fmt::format("the server had said nothing after {}", after);
      return fmt::format("the server had said nothing {} after its start{} and was taken down",
                         after, end.why.empty() ? "" : fmt::format(" ({})", end.why));
    case EndReason::opening_refused:
      return fmt::format("the server could not be {}: {}", end.is_foreign ? "opened" : "started",
                         why_words(end));
    case EndReason::exited:
      return fmt::format("the server exited by itself ({}) after {}", status, after);
    case EndReason::crashed:
      return fmt::format("the server crashed ({}) after {}", status, after);
    case EndReason::ended_from_outside:
      return fmt::format("the server was ended from outside ({}) after {}", status, after);
    case EndReason::restarted_itself:
      return "the server restarted itself after " + after;
    case EndReason::killed_by_sitter:
      if (end.had_no_child) {
        return fmt::format("{} was called while no {}", why_words(end),
                           end.is_foreign ? "session with the server was open" : "server ran");
      }
      if (end.is_foreign) {
        return fmt::format("the session with the server was given up by {} after {}",
                           why_words(end), after);
      }
      return fmt::format("the server was killed by {} after {}", why_words(end), after);
    case EndReason::replaced:
      return fmt::format("the server was replaced by a new one after {}", after);
    case EndReason::closed_stdout:
      return fmt::format("the server closed its stdout and was taken down after {}", after);
    case EndReason::closed_stdin:
      return fmt::format("the server closed its stdin and was taken down after {}", after);
    case EndReason::connection_lost:
      if (end.had_no_child) return "the server can't be reached: " + why_words(end);
      if (end.is_unseen) return "the answer of the server was lost: " + why_words(end);
      return fmt::format("the connection to the server was lost after {}: {}", after,
                         why_words(end));
    case EndReason::session_lost:
      return "the server has forgotten the session after " + after;
    case EndReason::wrote_rubbish:
      return fmt::format("the server was taken down after {}: {}", after, why_words(end));
    case EndReason::given_up:
      return fmt::format("the server could not be ended and was given up after {}: {}", after,
                         why_words(end));
    case EndReason::shut_down:
      if (end.is_foreign) return "the session with the server was ended" + after_its_life;
      return "the server was shut down with the session" + after_its_life;
  }
  return fmt::format("the server ended ({}) after {}", status, after);
}

}  // namespace

EndReason unasked_end(const ExitStatus& status) {
  if (status.by_control_c()) return EndReason::ended_from_outside;
  if (!status.by_signal()) {
    return status.code == 0 || status.is_unknown ? EndReason::exited : EndReason::crashed;
  }
  for (const std::string_view polite : {"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"}) {
    if (status.signal == polite) return EndReason::ended_from_outside;
  }
  return EndReason::crashed;
}

bool is_failure(EndReason reason) {
  switch (reason) {
    case EndReason::killed_by_sitter:
    case EndReason::restarted_itself:
    case EndReason::replaced:
    case EndReason::shut_down:
    case EndReason::exited:
    case EndReason::ended_from_outside:
    case EndReason::connection_lost:
    case EndReason::session_lost:
      return false;
    default:
      return true;
  }
}

std::string status_words(const ExitStatus& status) {
  if (status.is_unknown) return "exit code unknown";
  if (!status.passed_on.empty()) {
    return fmt::format("exit {}, as a shell passes on {}{}", status.code, status.passed_on,
                       status.passed_on == "SIGKILL" ? " (from outside, or out of memory)" : "");
  }
  if (!status.by_signal()) {
    const std::string_view words = system_code_words(status);
    return fmt::format("exit {}{}{}", exit_code_text(status), words.empty() ? "" : ", ", words);
  }
  if (status.signal == "SIGKILL") return "SIGKILL, from outside or out of memory";
  return status.signal;
}

std::string exit_code_text(const ExitStatus& status) {
  return status.has_system_code() ? fmt::format("0x{:08X}", status.unsigned_code())
                                  : std::to_string(status.code);
}

std::int64_t exit_code_of(const ExitStatus& status) {
  return status.has_system_code() ? std::int64_t{status.unsigned_code()} : status.code;
}

std::string_view system_code_words(const ExitStatus& status) {
  const auto* const known =
      std::find_if(std::begin(kSystemCodes), std::end(kSystemCodes),
                   [&](const SystemCode& code) { return code.number == status.unsigned_code(); });
  return known == std::end(kSystemCodes) ? std::string_view() : known->words;
}

std::string reason_words(const ChildEnd& end) {
  switch (end.reason) {
    case EndReason::not_executed:
      return "could not be executed";
    case EndReason::ended_in_opening:
      return "ended in its opening";
    case EndReason::opening_timed_out:
      return "timed out in its opening";
    case EndReason::said_nothing:
      return "said nothing";
    case EndReason::opening_refused:
      return "refused its opening";
    case EndReason::exited:
      return "exited by itself";
    case EndReason::crashed:
      return "crashed";
    case EndReason::ended_from_outside:
      return "ended from outside";
    case EndReason::restarted_itself:
      return "restarted itself";
    case EndReason::killed_by_sitter:
      return (end.is_foreign ? "given up by " : "killed by ") + why_words(end);
    case EndReason::replaced:
      return "replaced";
    case EndReason::closed_stdout:
      return "closed its stdout";
    case EndReason::closed_stdin:
      return "closed its stdin";
    case EndReason::connection_lost:
      return "connection lost";
    case EndReason::session_lost:
      return "session lost";
    case EndReason::wrote_rubbish:
      return "wrote rubbish";
    case EndReason::given_up:
      return "given up";
    case EndReason::shut_down:
      return "shut down";
  }
  return "over";
}

std::string previous_words(const ChildEnd& end) {
  const std::string status = status_words(end.status);
  const std::string after = " after " + duration_text(end.lifetime);
  switch (end.reason) {
    case EndReason::not_executed:
      return fmt::format("⚠ not started ({})", why_words(end));
    case EndReason::ended_in_opening:
      return fmt::format("⚠ ended in its opening ({}){}", status, after);
    case EndReason::opening_timed_out:
      return "⚠ timed out in its opening" + after;
    case EndReason::said_nothing:
      return (end.is_foreign ? "⚠ given up (it had said nothing)"
                             : "⚠ taken down (it had said nothing)") +
             after;
    case EndReason::opening_refused:
      return fmt::format("⚠ refused its opening ({}){}", why_words(end), after);
    case EndReason::exited:
      return status + after;
    case EndReason::crashed:
      return fmt::format("⚠ crashed ({}){}", status, after);
    case EndReason::ended_from_outside:
      return fmt::format("ended from outside ({}){}", status, after);
    case EndReason::restarted_itself:
      return "restarted itself" + after;
    case EndReason::killed_by_sitter:
      if (end.had_no_child) return why_words(end) + " was called before it ran";
      if (end.is_foreign) return fmt::format("given up by {}{}", why_words(end), after);
      return fmt::format("killed by {}{}", why_words(end), after);
    case EndReason::replaced:
      return end.why.empty() ? "replaced" + after
                             : fmt::format("replaced ({}){}", why_words(end), after);
    case EndReason::closed_stdout:
      return "⚠ taken down (it had closed its stdout)" + after;
    case EndReason::closed_stdin:
      return "⚠ taken down (it had closed its stdin)" + after;
    case EndReason::connection_lost:
      return fmt::format("connection lost ({}){}", why_words(end), after);
    case EndReason::session_lost:
      return "session lost" + after;
    case EndReason::wrote_rubbish:
      return fmt::format("⚠ taken down ({}){}", why_words(end), after);
    case EndReason::given_up:
      return fmt::format("⚠ given up ({}){}", why_words(end), after);
    case EndReason::shut_down:
      return "shut down" + after;
  }
  return status + after;
}

std::string end_clause(const ChildEnd& end) {
  std::string clause = plain_clause(end);
  if (!end.during.empty()) clause += ", while " + end.during;
  if (!end.hint.empty()) clause += "; " + end.hint;
  return clause;
}

std::string kill_reason_words(const ChildEnd& end) {
  if (end.reason == EndReason::killed_by_sitter) {
    return one_line(end.why) + (end.had_no_child ? " (nothing ran)" : "");
  }
  if (end.reason == EndReason::replaced) return "replaced";
  switch (end.reason) {
    case EndReason::restarted_itself:
    case EndReason::not_executed:
    case EndReason::opening_timed_out:
    case EndReason::said_nothing:
    case EndReason::opening_refused:
    case EndReason::closed_stdout:
    case EndReason::closed_stdin:
    case EndReason::connection_lost:
    case EndReason::session_lost:
    case EndReason::wrote_rubbish:
    case EndReason::given_up:
      return reason_words(end);
    default:
      break;
  }
  return fmt::format("{} ({})", reason_words(end), status_words(end.status));
}

}  // namespace sitter
