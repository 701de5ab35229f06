#include "doctor/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "core/report/lint_findings.hpp"
#include "core/report/restart_notice.hpp"

namespace sitter {
namespace {

/// The shortest time for which a common client waits (Codex: 10 s) less a margin for a slow day.
constexpr Milliseconds kSlowOpening{8000};

/// About a twentieth of the context of a common model (200,000 tokens).
constexpr std::size_t kManyTokens = 10'000;

constexpr std::string_view kToolWayOut =
    "run the tool by hand with the arguments of --schema-args, and correct what it writes";

constexpr std::string_view kStartWayOut = "correct what is named here, and run the doctor again";

constexpr std::size_t kBytesPerToken = 4;
constexpr std::size_t kLargestShown = 3;
constexpr std::size_t kNamesShown = 5;
constexpr std::size_t kLeftShownMax = 5;

/// Collects findings in the order of the report.
class FindingList {
 public:
  void ok(std::string subject, std::string what) {
    add(Level::ok, std::move(subject), std::move(what), {});
  }
  void warn(std::string subject, std::string what, std::string way_out) {
    add(Level::warning, std::move(subject), std::move(what), std::move(way_out));
  }
  void complain(std::string subject, std::string what, std::string way_out) {
    add(Level::problem, std::move(subject), std::move(what), std::move(way_out));
  }
  void add(Level level, std::string subject, std::string what, std::string way_out) {
    all_.push_back({level, std::move(subject), std::move(what), std::move(way_out)});
  }

  std::vector<Finding> take() { return std::move(all_); }

 private:
  std::vector<Finding> all_;
};

std::string size_text(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  const auto number = static_cast<double>(bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", number / 1024);
  return fmt::format("{:.1f} MiB", number / (1024 * 1024));
}

std::string in_quotes(const DoctorFacts::Lines& lines) {
  std::vector<std::string> quoted;
  for (const std::string& line : lines.kept) quoted.push_back('"' + shown(line) + '"');
  return fmt::format("{}", fmt::join(quoted, ", "));
}

bool are_some_left_out(const DoctorFacts::Lines& lines) { return lines.count > lines.kept.size(); }

std::string way_out_of_failure(const DoctorFacts& facts) {
  if (facts.kind == DoctorFacts::Kind::elsewhere) {
    return "start the daemon, and compare the address and the headers with its own settings";
  }
  if (facts.kind == DoctorFacts::Kind::tool) {
    return std::string(kToolWayOut);
  }
  if (facts.opening.failure.find("had not answered") != std::string::npos) {
    return "answer initialize, and flush stdout after each message: print(..., flush=True), "
           "python3 -u, "
           "fflush(stdout)";
  }
  if (facts.opening.failure.find("clients refuse its answer") != std::string::npos) {
    return "correct it in the server";
  }
  return facts.errors.count > 0
             ? "read what it wrote to stderr, below, and correct the cause"
             : "run the command by hand: a server waits for input, and answers initialize";
}

void add_tools(const DoctorFacts& facts, std::size_t count, FindingList& findings) {
  if (count == 0) return findings.ok("tools", "has no tools");
  const std::size_t bytes = tool_bytes(facts);
  const std::size_t tokens = rough_tokens(bytes);
  std::string what = fmt::format("{}: {} of definitions, roughly {}", counted(count, "tool"),
                                 counted(bytes, "byte"), counted(tokens, "token"));
  if (tokens <= kManyTokens) return findings.ok("tools", std::move(what));
  std::vector<std::string> largest;
  for (const DoctorFacts::Tool& tool : largest_tools(facts)) {
    largest.push_back(fmt::format("{} ({} bytes)", shown(tool.name), tool.bytes));
  }
  findings.warn("tools", what + " of the model's context, before the first question",
                fmt::format("shorten the descriptions and schemas, the largest first: {}",
                            fmt::join(largest, ", ")));
}

/// Most of these sentences say behind their last semicolon what to do.
void add_failure(std::string subject, const std::string& failure, std::string otherwise,
                 FindingList& findings) {
  const std::size_t end = failure.rfind("; ");
  findings.complain(std::move(subject), shown_failure(failure.substr(0, end)),
                    end == failure.npos ? std::move(otherwise) : shown(failure.substr(end + 2)));
}

void add_unstarted(const DoctorFacts& facts, FindingList& findings) {
  const bool is_tool = facts.kind == DoctorFacts::Kind::tool;
  add_failure(is_tool ? "description" : "file", facts.opening.failure,
              std::string(is_tool ? kToolWayOut : kStartWayOut), findings);
}

void add_file(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.file) return;
  const DoctorFacts::File& file = *facts.file;
  findings.ok("file", fmt::format("runs {} ({}, {}{}){}", one_line(file.path), size_text(file.size),
                                  file.age == kUnknownAge ? "" : "changed ", file.age,
                                  file.interpreter.empty()
                                      ? std::string()
                                      : fmt::format(" with {}", one_line(file.interpreter))));
}

void add_opening(const DoctorFacts& facts, FindingList& findings) {
  const DoctorFacts::Opening& opening = facts.opening;
  if (!opening.is_open && facts.kind == DoctorFacts::Kind::elsewhere) {
    return add_failure("opening", opening.failure, way_out_of_failure(facts), findings);
  }
  if (!opening.is_open) {
    // A semicolon may stand in the words of the server.
    return findings.complain("opening", shown_failure(opening.failure), way_out_of_failure(facts));
  }
  std::string what = fmt::format(
      "opened{}: {}{}",
      opening.time ? fmt::format(" after {}", duration_text(*opening.time)) : std::string(),
      opening.server_name.empty() ? "a server without a name" : shown(opening.server_name),
      opening.server_version.empty() ? std::string() : " " + shown(opening.server_version));
  if (opening.time && *opening.time > kSlowOpening) {
    findings.warn(
        "opening",
        what + "; Codex gives up after 10s, and Claude Code after 30s, if nothing else is set",
        "answer initialize first and prepare the rest later, or raise startup_timeout_sec of "
        "Codex and MCP_TIMEOUT of Claude Code");
  } else {
    findings.ok("opening", std::move(what));
  }
  findings.ok(
      "capabilities",
      opening.capabilities.empty()
          ? std::string("has no capabilities")
          : fmt::format("has {}", shown(fmt::format("{}", fmt::join(opening.capabilities, ", ")))));
}

void add_discovery(const DoctorFacts& facts, FindingList& findings) {
  using Discovery = DoctorFacts::Discovery;
  const std::string& revision = facts.opening.revision;
  const std::string opened =
      revision.empty() ? std::string() : fmt::format("initialize opens revision {}", revision);
  switch (facts.discovery) {
    case Discovery::not_asked:
      return;
    case Discovery::answered:
      if (revision.empty()) {
        findings.warn("eras", "answers revision 2026-07-28, but initialize opens no session",
                      "answer initialize too, if older clients are to use the server");
      } else {
        findings.ok("eras", opened + ", and server/discover offers 2026-07-28");
      }
      return;
    case Discovery::unfit:
      // Clients that begin with 2026-07-28 go on with initialize.
      findings.warn("eras",
                    fmt::format("{}2026-07-28 is not spoken, because the answer to server/discover "
                                "does not name it in supportedVersions",
                                opened.empty() ? "" : opened + "; "),
                    "name it, or answer unknown methods with the error -32601");
      return;
    case Discovery::refused:
      if (!revision.empty()) findings.ok("eras", opened + "; 2026-07-28 is not spoken");
      return;
    case Discovery::unanswered:
    case Discovery::ended:
      if (revision.empty()) return;
      findings.warn("eras",
                    fmt::format("{}, but the server {}, with which clients of 2026-07-28 "
                                "begin",
                                opened,
                                facts.discovery == Discovery::ended
                                    ? "ends on server/discover"
                                    : "did not answer server/discover in time"),
                    "answer unknown methods with the error -32601");
      return;
  }
}

void add_lists(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.end_in_lists.empty()) {
    return findings.complain(
        "lists", fmt::format("while its lists were read, {}", shown_failure(facts.end_in_lists)),
        way_out_of_failure(facts));
  }
  std::vector<std::string> others;
  for (const DoctorFacts::List& list : facts.lists) {
    if (!list.error.empty()) {
      // Clients that ask for the templates do without them.
      const bool is_refused = !list.is_unknown || list.method != "resources/templates/list";
      findings.add(is_refused ? Level::problem : Level::warning, "lists",
                   fmt::format("{} fails: {}", list.method, shown_failure(list.error)),
                   is_refused ? "answer the list, or do not declare the capability"
                              : "answer it with an empty list");
    } else if (list.method != "tools/list") {
      const std::string kind = list.method == "resources/templates/list"
                                   ? "resource template"
                                   : list.method.substr(0, list.method.find("s/list"));
      others.push_back(counted(list.count, kind));
    } else {
      add_tools(facts, list.count, findings);
    }
  }
  if (!others.empty()) findings.ok("lists", fmt::format("{}", fmt::join(others, ", ")));
}

void add_lint(const DoctorFacts& facts, FindingList& findings) {
  for (const std::string& finding : facts.lint) {
    const bool is_said = std::any_of(facts.lists.begin(), facts.lists.end(), [&](const auto& list) {
      return !list.error.empty() && finding.starts_with(list.method + ": ");
    });
    if (is_said) continue;
    const bool is_refused = finding.find(kSomeClients) == finding.npos;
    findings.add(is_refused ? Level::problem : Level::warning, "lint", shown_failure(finding),
                 "correct it in the server");
  }
}

/// "a, b and 3 more".
std::string names_text(const std::vector<std::string_view>& names) {
  const std::size_t count = std::min(names.size(), kNamesShown);
  std::vector<std::string> first;
  for (std::size_t i = 0; i < count; ++i) first.push_back(shown(names[i]));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     count < names.size() ? fmt::format(" and {} more", names.size() - count) : "");
}

void add_calls(const DoctorFacts& facts, FindingList& findings) {
  std::vector<std::string_view> called;
  std::map<std::string_view, std::vector<std::string_view>> left;
  for (const DoctorFacts::Tool& tool : facts.tools) {
    if (tool.failure.empty()) {
      (tool.not_called.empty() ? called : left[tool.not_called]).push_back(tool.name);
      continue;
    }
    const std::string what =
        fmt::format("the call of {} fails: {}", shown(tool.name), shown_failure(tool.failure));
    if (tool.has_ended_server) {
      findings.complain("calls", what, way_out_of_failure(facts));
    } else if (tool.is_refused) {
      findings.complain("calls", what, "correct the answer in the server");
    } else {
      findings.warn("calls", what, "call it by hand, and correct the cause");
    }
  }
  std::vector<std::string> parts;
  if (!called.empty()) parts.push_back("called " + names_text(called));
  for (const auto& [reason, names] : left) {
    parts.push_back(fmt::format("not called: {} ({})", names_text(names), reason));
  }
  if (!parts.empty()) findings.ok("calls", fmt::format("{}", fmt::join(parts, "; ")));
}

void add_outputs(const DoctorFacts& facts, FindingList& findings) {
  if (facts.noise.count > 0) {
    findings.complain(
        "stdout",
        fmt::format("{} on stdout {}: {}{}", counted(facts.noise.count, "line"),
                    facts.noise.count == 1 ? "is not a message" : "are not messages",
                    in_quotes(facts.noise), are_some_left_out(facts.noise) ? ", ..." : ""),
        "write it to stderr: stdout belongs to the protocol, and clients may give up on it");
  }
  if (facts.errors.count == 0) return;
  std::string what =
      fmt::format("{} on stderr{}: {}", counted(facts.errors.count, "line"),
                  are_some_left_out(facts.errors) ? ", among them" : "", in_quotes(facts.errors));
  const bool has_ended =
      !facts.end_in_lists.empty() ||
      std::any_of(facts.tools.begin(), facts.tools.end(),
                  [](const DoctorFacts::Tool& tool) { return tool.has_ended_server; });
  if (facts.opening.is_open && !has_ended) {
    findings.ok("stderr", std::move(what));
  } else {
    findings.warn("stderr", std::move(what), "correct the cause, which is probably named there");
  }
}

void add_end(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.end || !facts.end->server) return;
  const std::string& how = facts.end->server->how;
  const EndWords& words = facts.end_words;
  const std::string grace = duration_text(facts.end->grace);
  if (facts.kind == DoctorFacts::Kind::daemon) {
    if (how == words.killed) {
      findings.warn("end",
                    fmt::format("the daemon did not end within {} of {}", grace, words.request),
                    "end at " + words.request);
    } else {
      findings.ok("end", "the daemon ends at " + words.request);
    }
    return;
  }
  if (how == "stdin closed") return findings.ok("end", "ends by itself when its input ends");
  const std::string_view way_out =
      "exit when stdin ends: otherwise a client that is killed leaves the server running";
  if (how == words.asked) {
    findings.warn("end",
                  fmt::format("did not end within {} of the end of its input, but at {}", grace,
                              words.request),
                  std::string(way_out));
  } else {
    findings.complain(
        "end",
        fmt::format("ended neither at the end of its input nor at {}, within {} of each",
                    words.request, grace),
        std::string(way_out));
  }
}

void add_descendants(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.end) return;
  std::vector<std::string> left;
  std::size_t count = 0;
  for (const DoctorFacts::Ended& one : facts.end->descendants) {
    if (one.how == "stdin closed") continue;
    if (++count <= kLeftShownMax) left.push_back(shown(one.command));
  }
  if (count == 0) return;
  findings.warn("left-behind",
                fmt::format("{} that the server had started {} still running after it: {}{}",
                            counted(count, "process", "es"), count == 1 ? "was" : "were",
                            fmt::join(left, "; "), count > left.size() ? "; ..." : ""),
                "make the server end the processes that it has started, also when its input ends");
}

void add_termination(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.termination) return;
  const DoctorFacts::Termination& termination = *facts.termination;
  const EndWords& words = facts.end_words;
  using Outcome = DoctorFacts::Termination::Outcome;
  switch (termination.outcome) {
    case Outcome::ended:
      if (!words.may_ignore()) return findings.ok("restart", "opens a second time");
      findings.ok("sigterm", fmt::format("ends at {} ({})", words.request, termination.how));
      return;
    case Outcome::survived:
      findings.warn(
          "sigterm",
          fmt::format("did not end within {} of {}", duration_text(termination.wait),
                      words.request_alone()),
          fmt::format("end at {}: clients send {} soon after it, and nothing is cleaned up then",
                      words.request_alone(), words.kill));
      return;
    case Outcome::not_restarted:
      findings.complain(
          "restart", fmt::format("did not open a second time: {}", shown_failure(termination.how)),
          "leave nothing behind at the end that hinders the next start, such as a lock file "
          "or a port");
      return;
  }
}

void add_killed_start(const DoctorFacts& facts, FindingList& findings) {
  if (facts.after_killed_start.empty()) return;
  findings.complain("killed-start",
                    fmt::format("did not open right after a start that was killed: {}",
                                shown_failure(facts.after_killed_start)),
                    "take a lock or a port that is in use only once it is needed, or wait for it: "
                    "some clients start the server to probe it, kill it, and start it again");
}

void add_environment(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.environment) return;
  const DoctorFacts::Environment& environment = *facts.environment;
  using Outcome = DoctorFacts::Environment::Outcome;
  switch (environment.outcome) {
    case Outcome::opens:
      findings.ok("environment", "also opens with the short environment that clients give");
      return;
    case Outcome::is_unsteady:
      findings.warn(
          "environment",
          fmt::format("does not open with the short environment that clients give, and no "
                      "variables make it open each time: {}",
                      shown_failure(environment.failure)),
          "look for what differs between two starts with the same environment");
      return;
    case Outcome::needs_variables:
      break;
  }
  std::vector<std::string> options;
  for (const std::string& name : environment.needed) {
    options.push_back(fmt::format("--env {}=\"${}\"", shown(name), shown(name)));
  }
  std::string what =
      fmt::format("does not open with the short environment that clients give: {}; it needs {}{}",
                  shown_failure(environment.failure), environment.is_exact ? "" : "some of ",
                  fmt::join(environment.needed, ", "));
  if (!environment.is_exact) {
    what += fmt::format(" (the search ended after {} starts)", environment.starts);
  }
  findings.warn(
      "environment", std::move(what),
      fmt::format("register the server with {}, or write the lines NAME=VALUE into a file for "
                  "--env-file",
                  fmt::join(options, " ")));
}

}  // namespace

std::string_view level_name(Level level) {
  switch (level) {
    case Level::ok:
      return "ok";
    case Level::warning:
      return "warning";
    case Level::problem:
      return "problem";
  }
  assert(false);
  return {};
}

std::string shown(std::string_view text) { return brief(text, 200); }

std::string shown_failure(std::string_view text) {
  std::string words = brief(text, 1000);
  return words.empty() ? "an error without words" : words;
}

std::vector<Finding> findings_in(const DoctorFacts& facts) {
  FindingList findings;
  if (facts.opening.was_not_started) {
    add_unstarted(facts, findings);
    add_outputs(facts, findings);
    return findings.take();
  }
  add_file(facts, findings);
  add_opening(facts, findings);
  add_discovery(facts, findings);
  add_lists(facts, findings);
  add_lint(facts, findings);
  add_calls(facts, findings);
  add_outputs(facts, findings);
  add_end(facts, findings);
  add_descendants(facts, findings);
  add_termination(facts, findings);
  add_killed_start(facts, findings);
  add_environment(facts, findings);
  return findings.take();
}

std::size_t rough_tokens(std::size_t bytes) {
  return (bytes + kBytesPerToken - 1) / kBytesPerToken;
}

std::size_t tool_bytes(const DoctorFacts& facts) {
  std::size_t bytes = 0;
  for (const DoctorFacts::Tool& tool : facts.tools) bytes += tool.bytes;
  return bytes;
}

std::vector<DoctorFacts::Tool> largest_tools(const DoctorFacts& facts) {
  std::vector<DoctorFacts::Tool> tools = facts.tools;
  std::stable_sort(tools.begin(), tools.end(),
                   [](const auto& one, const auto& other) { return one.bytes > other.bytes; });
  tools.resize(std::min(tools.size(), kLargestShown));
  return tools;
}

}  // namespace sitter
