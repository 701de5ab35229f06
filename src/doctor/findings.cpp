#include "doctor/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// The shortest time for which a common client waits (Codex: 10 s) less a margin for a slow day.
constexpr Milliseconds kSlowOpening{8000};

/// About a twentieth of the context of a common model (200,000 tokens).
constexpr std::size_t kManyTokens = 10'000;

constexpr std::string_view kToolWayOut =
    "run the tool by hand with the arguments of --schema-args, and correct what it writes";

constexpr std::size_t kBytesPerToken = 4;
constexpr std::size_t kLargestShown = 3;
constexpr std::size_t kShownMax = 200;
constexpr std::size_t kFailureShownMax = 1000;
constexpr std::size_t kLeftShownMax = 5;

std::string shown(std::string_view text) { return brief(text, kShownMax); }

std::string size_text(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  const auto number = static_cast<double>(bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", number / 1024);
  return fmt::format("{:.1f} MiB", number / (1024 * 1024));
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string in_quotes(const DoctorFacts::Lines& lines) {
  std::vector<std::string> quoted;
  for (const std::string& line : lines.first) quoted.push_back('"' + shown(line) + '"');
  return fmt::format("{}{}", fmt::join(quoted, ", "),
                     lines.count > quoted.size() ? ", ..." : std::string());
}

class Report {
 public:
  explicit Report(const DoctorFacts& facts) : facts_(facts) {}

  std::vector<Finding> all() {
    if (facts_.opening.was_not_started) {
      add_unstarted();
      return std::move(findings_);
    }
    add_file();
    add_opening();
    add_discovery();
    add_lists();
    add_lint();
    add_outputs();
    add_end();
    add_descendants();
    add_termination();
    add_environment();
    return std::move(findings_);
  }

 private:
  void ok(std::string subject, std::string what) {
    findings_.push_back({Level::ok, std::move(subject), std::move(what), {}});
  }
  void warn(std::string subject, std::string what, std::string way_out) {
    findings_.push_back({Level::warning, std::move(subject), std::move(what), std::move(way_out)});
  }
  void complain(std::string subject, std::string what, std::string way_out) {
    findings_.push_back({Level::problem, std::move(subject), std::move(what), std::move(way_out)});
  }

  /// The sentence says what to do behind its last semicolon.
  void add_unstarted() {
    const std::string& failure = facts_.opening.failure;
    const std::size_t end = failure.rfind("; ");
    const bool is_tool = facts_.kind == DoctorFacts::Kind::tool;
    const std::string otherwise =
        is_tool ? std::string(kToolWayOut)
                : std::string("correct what the sentence names, and look again");
    complain(is_tool ? "description" : "file", brief(failure.substr(0, end), kFailureShownMax),
             end == failure.npos ? otherwise : shown(failure.substr(end + 2)));
  }

  void add_file() {
    if (!facts_.file) return;
    const DoctorFacts::File& file = *facts_.file;
    ok("file",
       fmt::format("runs {} ({}, changed {}){}", one_line(file.path), size_text(file.size),
                   file.age,
                   file.interpreter.empty() ? std::string()
                                            : fmt::format(" with {}", one_line(file.interpreter))));
  }

  void add_opening() {
    const DoctorFacts::Opening& opening = facts_.opening;
    if (!opening.is_open) {
      complain("opening", brief(opening.failure, kFailureShownMax), way_out_of_failure());
      return;
    }
    std::string what = fmt::format(
        "opened{}: {}{}",
        opening.time ? fmt::format(" after {}", duration_text(*opening.time)) : std::string(),
        opening.server_name.empty() ? "a server without a name" : shown(opening.server_name),
        opening.server_version.empty() ? std::string() : " " + shown(opening.server_version));
    if (opening.time && *opening.time > kSlowOpening) {
      warn("opening",
           what + "; Codex gives up after 10s, and Claude Code after 30s, if nothing else is set",
           "answer initialize first and prepare the rest later, or raise startup_timeout_sec of "
           "Codex and MCP_TIMEOUT of Claude Code");
    } else {
      ok("opening", std::move(what));
    }
    ok("capabilities",
       opening.capabilities.empty()
           ? std::string("has no capabilities")
           : fmt::format("has {}",
                         shown(fmt::format("{}", fmt::join(opening.capabilities, ", ")))));
  }

  std::string way_out_of_failure() const {
    if (facts_.kind == DoctorFacts::Kind::elsewhere) {
      return "start the daemon, and compare the address and the headers with its own settings";
    }
    if (facts_.kind == DoctorFacts::Kind::tool) {
      return std::string(kToolWayOut);
    }
    return facts_.errors.count > 0
               ? "read the lines of stderr below, and correct the cause"
               : "run the command by hand: a server waits for input, and answers initialize";
  }

  void add_discovery() {
    using Discovery = DoctorFacts::Discovery;
    const std::string& revision = facts_.opening.revision;
    const std::string opened =
        revision.empty() ? std::string() : fmt::format("initialize opens revision {}", revision);
    switch (facts_.discovery) {
      case Discovery::not_asked:
        return;
      case Discovery::answered:
        if (revision.empty()) {
          warn("eras", "answers revision 2026-07-28, but initialize opens no session",
               "answer initialize too, if older clients are to use the server");
        } else {
          ok("eras", opened + ", and server/discover offers 2026-07-28");
        }
        return;
      case Discovery::refused:
        if (!revision.empty()) ok("eras", opened + "; 2026-07-28 is not spoken");
        return;
      case Discovery::unanswered:
      case Discovery::ended:
        if (revision.empty()) return;
        warn("eras",
             fmt::format("{}, but the server {} server/discover, with which clients of 2026-07-28 "
                         "begin",
                         opened,
                         facts_.discovery == Discovery::ended ? "ends on" : "does not answer"),
             "answer methods that the server does not know with the error -32601");
        return;
    }
  }

  void add_lists() {
    if (!facts_.end_in_lists.empty()) {
      return complain("lists",
                      fmt::format("while its lists were read, {}",
                                  brief(facts_.end_in_lists, kFailureShownMax)),
                      way_out_of_failure());
    }
    std::vector<std::string> others;
    for (const DoctorFacts::List& list : facts_.lists) {
      if (!list.error.empty()) {
        complain("lists", fmt::format("{} fails: {}", list.method, shown(list.error)),
                 "answer the list, or do not declare the capability");
      } else if (list.method != "tools/list") {
        const std::string kind = list.method == "resources/templates/list"
                                     ? "resource template"
                                     : list.method.substr(0, list.method.find("s/list"));
        others.push_back(counted(list.count, kind));
      } else {
        add_tools(list.count);
      }
    }
    if (!others.empty()) ok("lists", fmt::format("{}", fmt::join(others, ", ")));
  }

  void add_tools(std::size_t count) {
    if (count == 0) return ok("tools", "has no tools");
    const std::size_t bytes = tool_bytes(facts_);
    const std::size_t tokens = rough_tokens(bytes);
    std::string what = fmt::format("{}: {} of definitions, roughly {}", counted(count, "tool"),
                                   counted(bytes, "byte"), counted(tokens, "token"));
    if (tokens <= kManyTokens) return ok("tools", std::move(what));
    std::vector<std::string> largest;
    for (const DoctorFacts::Tool& tool : largest_tools(facts_)) {
      largest.push_back(fmt::format("{} ({} bytes)", shown(tool.name), tool.bytes));
    }
    warn("tools", what + " of the model's context, before the first question",
         fmt::format("shorten the descriptions and schemas, the largest first: {}",
                     fmt::join(largest, ", ")));
  }

  void add_lint() {
    for (const std::string& finding : facts_.lint) {
      complain("lint", brief(finding, kFailureShownMax),
               "correct the definition of the tool in the server");
    }
  }

  void add_outputs() {
    if (facts_.noise.count > 0) {
      complain("stdout",
               fmt::format("{} on stdout {} no message: {}", counted(facts_.noise.count, "line"),
                           facts_.noise.count == 1 ? "is" : "are", in_quotes(facts_.noise)),
               "write it to stderr: stdout belongs to the protocol, and clients may give up on it");
    }
    if (facts_.errors.count > 0) {
      ok("stderr", fmt::format("{} on stderr: {}", counted(facts_.errors.count, "line"),
                               in_quotes(facts_.errors)));
    }
  }

  void add_end() {
    if (!facts_.end) return;
    if (!facts_.end->server) return;
    const std::string& how = facts_.end->server->how;
    const std::string grace = duration_text(facts_.end->grace);
    if (facts_.kind == DoctorFacts::Kind::daemon) {
      if (how == "SIGKILL") {
        warn("end", fmt::format("the daemon did not end within {} of SIGTERM", grace),
             "end at SIGTERM");
      } else {
        ok("end", "the daemon ends at SIGTERM");
      }
      return;
    }
    if (how == "stdin closed") return ok("end", "ends by itself when its input ends");
    const std::string_view way_out =
        "exit when stdin ends: a client that is killed leaves the server running otherwise";
    if (how == "SIGTERM") {
      warn("end",
           fmt::format("did not end within {} of the end of its input, but at SIGTERM", grace),
           std::string(way_out));
    } else {
      complain(
          "end",
          fmt::format("ended neither at the end of its input nor at SIGTERM, within {} of each",
                      grace),
          std::string(way_out));
    }
  }

  void add_descendants() {
    if (!facts_.end) return;
    std::vector<std::string> left;
    std::size_t count = 0;
    for (const DoctorFacts::Ended& one : facts_.end->descendants) {
      if (one.how == "stdin closed") continue;
      if (++count <= kLeftShownMax) left.push_back(shown(one.command));
    }
    if (count == 0) return;
    warn("left-behind",
         fmt::format("{} that the server had started {} still running after it: {}{}",
                     counted(count, "process"), count == 1 ? "was" : "were", fmt::join(left, "; "),
                     count > left.size() ? "; ..." : ""),
         "end in the server what it starts, also when its input ends");
  }

  void add_termination() {
    if (!facts_.termination) return;
    const DoctorFacts::Termination& termination = *facts_.termination;
    using Outcome = DoctorFacts::Termination::Outcome;
    switch (termination.outcome) {
      case Outcome::ended:
        ok("sigterm", fmt::format("ends at SIGTERM ({})", termination.how));
        return;
      case Outcome::survived:
        warn("sigterm",
             fmt::format("did not end within {} of SIGTERM", duration_text(termination.wait)),
             "end at SIGTERM: clients send SIGKILL soon after it, and nothing is cleaned up then");
        return;
      case Outcome::not_restarted:
        complain(
            "restart",
            fmt::format("did not open a second time: {}", brief(termination.how, kFailureShownMax)),
            "leave nothing behind at the end that hinders the next start, such as a lock file "
            "or a port");
        return;
    }
  }

  void add_environment() {
    if (!facts_.environment) return;
    const DoctorFacts::Environment& environment = *facts_.environment;
    using Outcome = DoctorFacts::Environment::Outcome;
    switch (environment.outcome) {
      case Outcome::opens:
        ok("environment", "opens also with the short environment that clients give");
        return;
      case Outcome::is_unsteady:
        warn("environment",
             fmt::format("does not open with the short environment that clients give, and no "
                         "variables make it open each time: {}",
                         brief(environment.failure, kFailureShownMax)),
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
                    brief(environment.failure, kFailureShownMax),
                    environment.is_exact ? "" : "some of ", fmt::join(environment.needed, ", "));
    if (!environment.is_exact) {
      what += fmt::format(" (the search ended after {} starts)", environment.starts);
    }
    warn("environment", std::move(what),
         fmt::format("register the server with {}, or write the lines NAME=VALUE into a file for "
                     "--env-file",
                     fmt::join(options, " ")));
  }

  const DoctorFacts& facts_;
  std::vector<Finding> findings_;
};

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

std::vector<Finding> findings_in(const DoctorFacts& facts) { return Report(facts).all(); }

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
