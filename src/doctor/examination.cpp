#include "doctor/examination.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/last_words.hpp"
#include "core/base/text.hpp"
#include "core/wire/protocol.hpp"
#include "doctor/doctor_session.hpp"
#include "doctor/doctor_words.hpp"
#include "doctor/environment_check.hpp"
#include "doctor/server_lists.hpp"
#include "io/files/era_cache.hpp"
#include "io/process/process_table.hpp"
#include "probe/json_words.hpp"

namespace sitter {
namespace {

using Json = DoctorSession::Json;
using Era = DoctorSession::Era;
using Kind = DoctorFacts::Kind;

/// A server that may take for ever (--startup-timeout 0) is given up after this.
constexpr Milliseconds kOpeningMax{600'000};

/// For everything behind the first opening.
constexpr Milliseconds kRestOfExamination{300'000};

/// The bridge tells of a failed opening a moment after its own limit.
constexpr Milliseconds kMargin{10'000};

/// How long a server that has opened before may take to answer what it does not know.
constexpr Milliseconds kDiscoveryWait{5'000};

/// How long official clients wait from SIGTERM to SIGKILL.
constexpr Milliseconds kTerminationWait{2'000};

/// Calls show what the server prints in them. A few are enough, and a tool that only reads and
/// needs no arguments answers soon.
constexpr int kCallsMax = 10;
constexpr Milliseconds kCallWait{5'000};

constexpr std::size_t kNoiseShown = 3;
constexpr std::size_t kErrorLinesShown = 5;

/// How the bridge begins the answer to a request whose answer clients would throw away. Its last
/// sentence tells where to look.
constexpr std::string_view kUnreadAnswer = "[mcp-sitter] The server answered this request, but ";

/// Where a failure to answer `initialize` goes on with a guess at the server's era.
constexpr std::string_view kGuess = ", like a server that speaks only";

constexpr std::string_view kNoiseMark = "[stdout] ";
constexpr const char* kNoisePattern = "^\\[stdout\\] ";

Kind kind_of(const DoctorWords& words) {
  if (words.options.cli) return Kind::tool;
  if (!words.options.daemon) return Kind::process;
  return words.command.empty() ? Kind::elsewhere : Kind::daemon;
}

std::string command_text(const DoctorWords& words) {
  if (words.options.daemon) return words.options.daemon->link.url.shown();
  const LaunchRequest& command = words.options.command;
  return fmt::format("{}{}{}", command.command, command.arguments.empty() ? "" : " ",
                     fmt::join(command.arguments, " "));
}

/// The last generation, which may still live.
Json last_life(const Json& status) {
  const Json history = member(status, "history");
  return history.empty() ? Json::object() : history.back();
}

std::string end_clause(const Json& life) {
  return fmt::format("the server {} ({})", text_in(life, "reason"), text_in(life, "exit"));
}

/// Why the server does not run, with the line of its stderr that tells most.
std::string failure_of(DoctorSession& session, const Json& status) {
  std::string failure = text_in(member(status, "lastFailure"), "what");
  if (failure.empty()) failure = text_in(status, "summary");
  const std::string errors =
      session.text_of("child_stderr", {{"lines", 100}, {"since_spawn", true}});
  for (const std::string_view line : last_words(errors, 1)) failure += fmt::format(": {}", line);
  return failure;
}

class Examination {
 public:
  Examination(const DoctorWords& words, const std::function<void(std::string_view)>& on_step)
      : words_(words), on_step_(on_step) {
    const Milliseconds limit = words.options.bridge.startup_timeout;
    opening_wait_ = limit == Milliseconds::zero() ? kOpeningMax : limit + kMargin;
    deadline_ = DoctorSession::Clock::now() + opening_wait_ + kRestOfExamination;
    facts_.kind = kind_of(words);
    facts_.end_words = words.options.bridge.end_words;
    facts_.command = command_text(words);
  }

  DoctorFacts facts() {
    on_step_("opening the server");
    look_with(Era::initialize, opening_wait_);
    if (!facts_.opening.was_not_started && !is_absent_) look_without_session();
    if (facts_.opening.is_open && facts_.kind != Kind::daemon && facts_.kind != Kind::elsewhere &&
        words_.checks_environment) {
      check_environment();
    }
    // The last, since a server may leave behind what hinders every further start.
    if (facts_.opening.is_open && facts_.kind == Kind::process) try_after_killed_start();
    return std::move(facts_);
  }

 private:
  /// Opens the server in this era, and if that succeeds, looks at all that it has.
  void look_with(Era era, Milliseconds wait) {
    DoctorSession session(words_, era, {.deadline = deadline_});
    const auto started = DoctorSession::Clock::now();
    const auto answer = session.open(wait);
    const auto taken = std::chrono::ceil<Milliseconds>(DoctorSession::Clock::now() - started);
    const Json status = session.settled_status();
    if (era == Era::stateless) {
      note_discovery(answer, status);
      if (facts_.opening.is_open || facts_.discovery != DoctorFacts::Discovery::answered) return;
    } else if (!answer || !is_true(status, "childReady")) {
      note_failure(answer, status);
      look_at_file(session);
      look_at_output(session);
      return;
    }
    note_opening(era, *answer, status, taken);
    on_step_("listing what it has");
    look_at_lists(session);
    look_at_file(session);
    if (gives_tools()) {
      on_step_("calling tools that only read");
      call_tools(session);
    }
    if (facts_.end_in_lists.empty()) {
      on_step_("ending it");
      end(session);
    }
    look_at_output(session);
    if (facts_.kind == Kind::process && gives_tools()) terminate(session);
  }

  bool gives_tools() const {
    return facts_.end_in_lists.empty() && facts_.lists.front().error.empty();
  }

  void look_without_session() {
    on_step_("asking for revision 2026-07-28");
    // The server is asked anew, whatever is known of it.
    if (facts_.kind == Kind::process) forget_era(words_.options.command);
    const auto time = facts_.opening.time.value_or(Milliseconds::zero());
    look_with(Era::stateless, kDiscoveryWait + 3 * time);
  }

  void note_failure(const std::optional<Json>& answer, const Json& status) {
    DoctorFacts::Opening& opening = facts_.opening;
    const Json failure = member(status, "lastFailure");
    opening.failure = text_in(failure, "what");
    // What follows is meant for a client that could reconnect.
    opening.failure = opening.failure.substr(0, opening.failure.find(kGuess));
    is_absent_ = status.contains("absence");
    if (opening.failure.empty()) opening.failure = text_in(member(status, "absence"), "why");
    const Json life = last_life(status);
    if (opening.failure.empty() && life.contains("exit")) opening.failure = end_clause(life);
    if (opening.failure.empty()) {
      opening.failure = answer ? text_in(status, "summary")
                               : "the server did not open, and mcp-sitter gave up waiting";
    }
    opening.was_not_started = text_in(life, "reason") == "could not be executed";
  }

  void note_opening(Era era, const Json& answer, const Json& status, Milliseconds taken) {
    const Json result = member(answer, "result");
    DoctorFacts::Opening& opening = facts_.opening;
    opening = {};
    opening.is_open = true;
    if (era == Era::initialize) opening.revision = text_in(result, "protocolVersion");
    // Elsewhere, the bridge measures less than a client would, or nothing.
    const bool is_measured = era == Era::initialize && facts_.kind == Kind::process;
    opening.time = is_measured ? Milliseconds(number_in(status, "lastStartupMs")) : taken;
    Json server = member(status, "serverInfo");
    if (server.is_null()) server = member(result, "serverInfo");
    opening.server_name = text_in(server, "name");
    opening.server_version = text_in(server, "version");
    capabilities_ = member(result, "capabilities");
  }

  void note_discovery(const std::optional<Json>& answer, const Json& status) {
    using Discovery = DoctorFacts::Discovery;
    const bool has_died = !text_in(member(status, "lastFailure"), "what").empty() ||
                          member(status, "previousExitCode").is_number();
    if (!answer) {
      facts_.discovery = Discovery::unanswered;
    } else if (answer->contains("result")) {
      const Json versions = member(member(*answer, "result"), "supportedVersions");
      const bool is_named = versions.is_array() && std::find(versions.begin(), versions.end(),
                                                             kStatelessRevision) != versions.end();
      facts_.discovery = is_named ? Discovery::answered : Discovery::unfit;
    } else {
      facts_.discovery = has_died ? Discovery::ended : Discovery::refused;
    }
  }

  void look_at_lists(DoctorSession& session) {
    read_lists(session, capabilities_, facts_);
    const Json status = session.look("status");
    const Json life = last_life(status);
    if (facts_.kind == Kind::process && life.contains("exit")) {
      facts_.end_in_lists = end_clause(life);
    }
    const bool may_have_tools = !facts_.tools.empty() || !gives_tools();
    facts_.opening.capabilities = shown_capabilities(capabilities_, may_have_tools);
    note_lint(status);
  }

  void note_lint(const Json& status) {
    for (const Json& finding : member(status, "lint")) {
      if (!finding.is_string()) continue;
      const std::string text = finding.get<std::string>();
      auto& lint = facts_.lint;
      if (std::find(lint.begin(), lint.end(), text) == lint.end()) lint.push_back(text);
    }
  }

  void call_tools(DoctorSession& session) {
    int called = 0;
    std::string_view reason;
    for (DoctorFacts::Tool& tool : facts_.tools) {
      if (!tool.not_called.empty()) continue;
      if (called == kCallsMax) reason = "enough others were called";
      if (!reason.empty()) {
        tool.not_called = reason;
        continue;
      }
      ++called;
      if (!call(session, tool)) reason = "a call before it was not answered";
    }
  }

  /// Returns whether the server goes on to answer.
  bool call(DoctorSession& session, DoctorFacts::Tool& tool) {
    const Json params = {{"name", tool.name}, {"arguments", Json::object()}};
    const auto answer = session.ask("tools/call", params, kCallWait);
    if (!answer) session.give_up();
    const Json status = session.look("status");
    note_lint(status);
    const Json life = last_life(status);
    if (facts_.kind == Kind::process && life.contains("exit")) {
      tool.failure = end_clause(life);
      tool.has_ended_server = true;
      return false;
    }
    if (!answer) {
      tool.failure = fmt::format("no answer within {}s", kCallWait.count() / 1000);
      return false;
    }
    const Json result = member(*answer, "result");
    if (result.is_object() && !is_true(result, "isError")) return true;
    const Json::json_pointer text("/result/content/0/text");
    tool.failure = text_in(member(*answer, "error"), "message");
    if (answer->contains(text) && answer->at(text).is_string()) tool.failure = answer->at(text);
    if (tool.failure.starts_with(kUnreadAnswer)) {
      tool.is_refused = true;
      tool.failure.erase(0, kUnreadAnswer.size());
      tool.failure.resize(std::min(tool.failure.size(), tool.failure.rfind(". ")));
    }
    if (tool.failure.empty()) tool.failure = "an error without words";
    return true;
  }

  void look_at_file(DoctorSession& session) {
    if (facts_.kind == Kind::elsewhere) return;
    const Json info = session.look("binary_info");
    if (!is_true(info, "exists")) return;
    facts_.file = DoctorFacts::File{.path = text_in(info, "path"),
                                    .size = number_in(info, "sizeBytes"),
                                    .age = text_in(info, "mtimeHuman"),
                                    .modified = text_in(info, "mtime"),
                                    .interpreter = text_in(member(info, "interpreter"), "path")};
  }

  void look_at_output(DoctorSession& session) {
    // The first session may have failed, and this one shows more.
    facts_.noise = {};
    facts_.errors = {};
    // Many lines on stderr must not hide what was on stdout.
    count_lines(session, {{"lines", 1000}, {"generation", 1}, {"grep", kNoisePattern}}, true);
    count_lines(session, {{"lines", 1000}, {"generation", 1}}, false);
  }

  void count_lines(DoctorSession& session, const Json& arguments, bool counts_noise) {
    const std::string text = session.text_of("child_stderr", arguments);
    if (text == "(no child stderr in buffer)") return;
    DoctorFacts::Lines& lines = counts_noise ? facts_.noise : facts_.errors;
    std::string errors;
    for (std::string_view line : text_lines(text)) {
      const bool is_noise = line.starts_with(kNoiseMark);
      if (is_noise != counts_noise) continue;
      ++lines.count;
      if (!is_noise) {
        errors.append(line) += '\n';
      } else if (lines.kept.size() < kNoiseShown) {
        lines.kept.emplace_back(line.substr(kNoiseMark.size()));
      }
    }
    for (const std::string_view line : last_words(errors, kErrorLinesShown)) {
      lines.kept.emplace_back(line);
    }
  }

  /// Ends the server as the end of a session does.
  void end(DoctorSession& session) {
    if (facts_.kind != Kind::process && facts_.kind != Kind::daemon) return;
    // Without the scope, other servers of the user that run the same file would end too.
    const Json report = session.look("kill", {{"scope", "child"}});
    if (!report.contains("killed")) return;
    DoctorFacts::End end;
    end.grace = words_.options.bridge.kill_grace;
    for (const Json& one : report["killed"]) {
      DoctorFacts::Ended ended{text_in(one, "command"), text_in(one, "how")};
      if (text_in(one, "relation") == "child") {
        end.server = std::move(ended);
      } else {
        end.descendants.push_back(std::move(ended));
      }
    }
    facts_.end = std::move(end);
  }

  /// Starts the server again, and asks it alone to end, as clients do.
  void terminate(DoctorSession& session) {
    on_step_("starting it again");
    session.ask("tools/list", Json::object(), opening_wait_);
    Json status = session.look("status");
    using Outcome = DoctorFacts::Termination::Outcome;
    DoctorFacts::Termination& termination = facts_.termination.emplace();
    const auto process = find_process(number_in(status, "childPid"));
    if (!is_true(status, "childReady") || !process) {
      termination.outcome = Outcome::not_restarted;
      termination.how = failure_of(session, status);
      return;
    }
    on_step_("ending it with " + facts_.end_words.request_alone());
    termination.wait = kTerminationWait;
    send_signal(*process, UnitSignal::terminate);
    const auto deadline = DoctorSession::Clock::now() + kTerminationWait;
    while (DoctorSession::Clock::now() < deadline) {
      session.rest();
      status = session.look("status");
      termination.how = text_in(last_life(status), "exit");
      if (!termination.how.empty()) return;
    }
    termination.outcome = Outcome::survived;
  }

  /// Some clients start the command only to probe it, kill it, and start it again at once.
  void try_after_killed_start() {
    on_step_("starting it right after a start that was killed");
    const Era era = facts_.opening.revision.empty() ? Era::stateless : Era::initialize;
    const DoctorSession::Start start{.deadline = deadline_};
    {
      DoctorSession killed(words_, era, start);
      killed.open(opening_wait_);
      const auto process = find_process(number_in(killed.settled_status(), "childPid"));
      if (!process) return;
      send_signal(*process, UnitSignal::kill);
    }
    DoctorSession session(words_, era, start);
    facts_.after_killed_start = failure_to_open(session, era, opening_wait_);
  }

  /// Empty if the server opens.
  static std::string failure_to_open(DoctorSession& session, Era era, Milliseconds wait) {
    const auto answer = session.open(wait);
    const Json status = session.settled_status();
    const bool is_open = era == Era::stateless ? answer && answer->contains("result")
                                               : is_true(status, "childReady");
    return is_open ? "" : failure_of(session, status);
  }

  void check_environment() {
    on_step_("starting it with a short environment");
    const Era era = facts_.opening.revision.empty() ? Era::stateless : Era::initialize;
    const Milliseconds wait =
        kDiscoveryWait + 3 * facts_.opening.time.value_or(Milliseconds::zero());
    facts_.environment = examine_environment([&](std::vector<std::string> environment) {
      DoctorSession session(
          words_, era,
          {.startup_timeout = wait, .environment = std::move(environment), .deadline = deadline_});
      std::string failure = failure_to_open(session, era, wait + kMargin);
      return EnvironmentTrial{failure.empty(), std::move(failure)};
    });
  }

  const DoctorWords& words_;
  const std::function<void(std::string_view)>& on_step_;
  Milliseconds opening_wait_{};
  DoctorSession::Clock::time_point deadline_;
  DoctorFacts facts_;
  Json capabilities_;
  bool is_absent_ = false;
};

}  // namespace

DoctorFacts examine(const DoctorWords& words,
                    const std::function<void(std::string_view)>& on_step) {
  return Examination(words, on_step).facts();
}

}  // namespace sitter
