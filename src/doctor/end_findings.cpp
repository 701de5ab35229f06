#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "doctor/finding_list.hpp"
#include "terminal/counted.hpp"

namespace sitter {
namespace {

constexpr std::size_t kLeftShownMax = 5;

void add_end(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.end) return;
  if (!facts.end->server) return;
  const std::string& how = facts.end->server->how;
  const std::string grace = duration_text(facts.end->grace);
  if (facts.kind == DoctorFacts::Kind::daemon) {
    if (how == "SIGKILL") {
      findings.warn("end", fmt::format("the daemon did not end within {} of SIGTERM", grace),
                    "end at SIGTERM");
    } else {
      findings.ok("end", "the daemon ends at SIGTERM");
    }
    return;
  }
  if (how == "stdin closed") return findings.ok("end", "ends by itself when its input ends");
  const std::string_view way_out =
      "exit when stdin ends: a client that is killed leaves the server running otherwise";
  if (how == "SIGTERM") {
    findings.warn(
        "end", fmt::format("did not end within {} of the end of its input, but at SIGTERM", grace),
        std::string(way_out));
  } else {
    findings.complain(
        "end",
        fmt::format("ended neither at the end of its input nor at SIGTERM, within {} of each",
                    grace),
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
                "end in the server what it starts, also when its input ends");
}

void add_termination(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.termination) return;
  const DoctorFacts::Termination& termination = *facts.termination;
  using Outcome = DoctorFacts::Termination::Outcome;
  switch (termination.outcome) {
    case Outcome::ended:
      findings.ok("sigterm", fmt::format("ends at SIGTERM ({})", termination.how));
      return;
    case Outcome::survived:
      findings.warn(
          "sigterm",
          fmt::format("did not end within {} of SIGTERM", duration_text(termination.wait)),
          "end at SIGTERM: clients send SIGKILL soon after it, and nothing is cleaned up then");
      return;
    case Outcome::not_restarted:
      findings.complain(
          "restart", fmt::format("did not open a second time: {}", shown_failure(termination.how)),
          "leave nothing behind at the end that hinders the next start, such as a lock file "
          "or a port");
      return;
  }
}

void add_environment(const DoctorFacts& facts, FindingList& findings) {
  if (!facts.environment) return;
  const DoctorFacts::Environment& environment = *facts.environment;
  using Outcome = DoctorFacts::Environment::Outcome;
  switch (environment.outcome) {
    case Outcome::opens:
      findings.ok("environment", "opens also with the short environment that clients give");
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

void add_end_findings(const DoctorFacts& facts, FindingList& findings) {
  add_end(facts, findings);
  add_descendants(facts, findings);
  add_termination(facts, findings);
  add_environment(facts, findings);
}

}  // namespace sitter
