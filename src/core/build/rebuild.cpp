#include "core/build/rebuild.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace sitter {
namespace {

using Server = RebuildReport::Server;

constexpr std::size_t kCauseBytesMax = 300;

bool has_failed(const std::optional<BuildResult>& build) {
  return build && build->outcome != BuildResult::Outcome::succeeded;
}

std::string whats_now(Server server) {
  switch (server) {
    case Server::kept:
      return "The server that ran before was not touched and serves on.";
    case Server::down:
      return "No server is running; the next request starts it.";
    case Server::not_wanted:
      return "The server is started when the client opens a session.";
    case Server::restarted:
      break;
  }
  return "";
}

/// The new child may need something that the old child holds for as long as it lives.
std::string advice(const RebuildReport& report) {
  const bool was_started = report.start_failure &&
                           report.start_failure->reason != EndReason::not_executed &&
                           report.start_failure->during.empty();
  if (report.server != Server::kept || !was_started) return "";
  const std::string remedy =
      report.build ? fmt::format("call {} with mode kill-first", report.rebuild_tool)
                   : fmt::format("call {}, and then any tool of the server", report.kill_tool);
  return fmt::format(" If the new server needs a port or a lock that the old server holds, {}.",
                     remedy);
}

std::string joined_line(const RebuildReport& report) {
  return fmt::format(
      "\n[mcp-sitter] This call has joined a build that had run for {}: a file that was saved "
      "after the build began may not be in it. In that case, call {} again.",
      duration_text(*report.joined_after), report.rebuild_tool);
}

}  // namespace

bool is_failure(const RebuildReport& report) {
  return has_failed(report.build) || report.start_failure.has_value();
}

std::string rebuild_text(const RebuildReport& report) {
  std::string text = "[mcp-sitter] ";
  if (!report.cause.empty()) text += brief(report.cause, kCauseBytesMax) + ": ";
  if (report.build) text += build_clause(*report.build);
  if (report.start_failure) {
    if (report.build) text += ", but ";
    text += end_clause(*report.start_failure);
  }
  if (!report.build && !report.start_failure) text += "nothing was built";
  text += ".";
  if (const std::string now = whats_now(report.server); !now.empty()) text += " " + now;
  text += advice(report);
  if (report.joined_after) text += joined_line(report);
  if (!report.notice.empty()) text += "\n" + report.notice;
  if (report.start_failure) {
    text += report.stderr_tail.empty()
                ? std::string("\nThe new server wrote nothing to stderr.")
                : fmt::format("\nLast words of the new server on stderr ({} shows more):\n{}",
                              report.stderr_tool, report.stderr_tail);
  }
  if (!report.build || report.build->outcome == BuildResult::Outcome::not_started) return text;
  text += report.output.empty() ? std::string("\nThe build wrote nothing.")
                                : fmt::format("\nOutput of the build ({} shows more):\n{}",
                                              report.log_tool, report.output);
  return text;
}

std::string progress_clause(std::string_view cause, std::optional<Milliseconds> build_age) {
  if (!build_age) return fmt::format("a new server is on its way ({})", cause);
  return fmt::format("a build has been running for {} ({})", duration_text(*build_age), cause);
}

}  // namespace sitter
