#include "core/rebuild/rebuild.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/base/text.hpp"

namespace sitter {
namespace {

using Server = RebuildReport::Server;

constexpr std::size_t kCauseBytesMax = 300;

std::string whats_now(Server server) {
  switch (server) {
    case Server::kept:
      return "The server that ran before was not touched and serves on.";
    case Server::starting:
      return "The server that was already starting was not touched.";
    case Server::down:
      return "No server is running; the next request starts it.";
    case Server::not_wanted:
      return "The server is started when the client opens a session.";
    case Server::absent:
      return "Start it if it is not running: it is tried again, and requests wait for it.";
    case Server::not_ours:
      return "The server that listens was not started by this mcp-sitter, so it still runs as it "
             "was: restart it where it was started.";
    case Server::restarted:
      break;
  }
  return "";
}

/// How the libraries of most languages report that another process has what only one can have: an
/// address, a database, a lock, a profile or a device.
constexpr const char* kTaken =
    R"re((?im)address (is )?(already )?in use|EADDRINUSE|only one usage of each socket address)re"
    R"re(|(port \d+|profile|browser|directory) (appears to be |is )(already )?in use)re"
    R"re(|(used|in use) by another process|already running|already started *([.!:(]|$))re"
    R"re(|database (file )?is locked|SQLITE_BUSY|EBUSY)re"
    R"re(|(resource|device|text file)( or resource)? (is )?busy)re"
    R"re(|lock.{0,200} temporarily unavailable)re"
    R"re(|\block( ?file)?\b(.{0,200} (already|being|is))? (held|taken)\b)re"
    R"re(|\b(Singleton)?lock\b.{0,200} (already|file) exists|(lock|pid) ?file\b(.{0,200})? exists)re"
    R"re(|file (already )?exists\b.{0,200}\.(lock|pid)\b)re"
    R"re(|(acquire|obtain|get) (the |a )?(exclusive )?lock\b|(failed to|not) lock\b)re";

/// The old child has it for as long as it lives.
std::string advice(const RebuildReport& report) {
  static const RE2 taken(kTaken, RE2::Quiet);
  if (report.server != Server::kept) return "";
  const bool is_taken =
      RE2::PartialMatch(report.stderr_tail, taken) ||
      (report.start_failure && RE2::PartialMatch(report.start_failure->why, taken));
  if (!is_taken) return "";
  const std::string remedy =
      report.is_for_person ? "run " + report.rebuild_tool + " --mode kill-first"
      : report.build && !report.rebuild_tool.empty()
          ? fmt::format("call {} with mode kill-first", report.rebuild_tool)
          : restart_clause(report.kill_tool) + ", and then call any tool of the server";
  return fmt::format(" The old server holds what the new one needs, so {}.", remedy);
}

std::string joined_line(const RebuildReport& report) {
  return fmt::format(
      "\n[mcp-sitter] This call has joined a build that had been running for {}: a file that was "
      "saved "
      "after the build began may not be in it. In that case, {} {} again.",
      duration_text(*report.joined_after), report.is_for_person ? "run" : "call",
      report.rebuild_tool);
}

}  // namespace

bool is_failure(const RebuildReport& report) {
  const bool has_no_build =
      report.build && report.build->outcome != BuildResult::Outcome::succeeded;
  return has_no_build || report.start_failure.has_value() || report.server == Server::not_ours;
}

std::string rebuild_text(const RebuildReport& report) {
  if (report.is_restart && !report.notice.empty()) return report.notice;
  std::string text = "[mcp-sitter] ";
  if (!report.cause.empty()) text += brief(report.cause, kCauseBytesMax) + ": ";
  if (report.build) text += build_clause(*report.build);
  if (report.start_failure) {
    if (report.build) text += ", but ";
    text += end_clause(*report.start_failure);
  }
  if (!report.build && !report.start_failure) {
    text += !report.is_restart                  ? "no --build command is set"
            : report.server == Server::not_ours ? "nothing was killed"
                                                : "the server was killed";
    if (report.server == Server::restarted) text += "; the server was started again";
  }
  text += ".";
  if (const std::string now = whats_now(report.server); !now.empty()) text += " " + now;
  text += advice(report);
  if (report.joined_after) text += joined_line(report);
  if (!report.notice.empty()) text += "\n" + report.notice;
  if (report.start_failure && report.server != Server::absent) {
    text += report.stderr_tail.empty()
                ? std::string("\nThe new server wrote nothing to stderr.")
                : fmt::format("\nLast words of the new server on stderr{}:\n{}",
                              tool_hint(report.stderr_tool), report.stderr_tail);
    if (const std::string& core = report.start_failure->status.core; !core.empty()) {
      text += "\n" + core + ".";
    }
  }
  if (!report.build || report.build->outcome == BuildResult::Outcome::not_started) return text;
  text += report.output.empty() ? std::string("\nThe build wrote nothing.")
                                : fmt::format("\nOutput of the build{}:\n{}",
                                              tool_hint(report.log_tool), report.output);
  return text;
}

RebuildReport for_person(RebuildReport report) {
  report.is_for_person = true;
  report.rebuild_tool = "mcp-sitter ctl reload";
  report.kill_tool = "mcp-sitter ctl kill";
  report.stderr_tool = "mcp-sitter ctl stderr";
  report.log_tool.clear();
  return report;
}

std::string progress_clause(std::string_view cause, std::optional<Milliseconds> build_age) {
  if (!build_age) return fmt::format("a new server is on its way ({})", cause);
  return fmt::format("a build has been running for {} ({})", duration_text(*build_age), cause);
}

}  // namespace sitter
