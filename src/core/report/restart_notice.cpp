#include "core/report/restart_notice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/last_words.hpp"
#include "core/base/text.hpp"

namespace sitter {
namespace {

/// How many lines of a crashed server's stderr a notice shows. Most errors have one line, and a
/// place before or behind it.
constexpr std::size_t kNoticeStderrLines = 3;

constexpr std::size_t kPathBytesMax = 512;
constexpr std::size_t kVersionBytesMax = 64;
constexpr std::size_t kLineBytesMax = 400;
/// The bound for the names in the first line, for each of added, removed and changed.
constexpr std::size_t kNamesBytesMax = 500;
/// The largest size of the line that counts the omitted lines.
constexpr std::size_t kRestLineBytes = 128;

std::string binary_words(const RestartNotice& notice) {
  std::string words;
  if (!notice.version.empty()) {
    const std::string version = brief(notice.version, kVersionBytesMax);
    words += version.starts_with('v') ? " " + version : " v" + version;
  }
  if (notice.build_age) {
    words += (notice.is_script ? " changed " : " built ") + age_text(*notice.build_age);
  }
  return words.empty() ? words : "binary" + words;
}

/// Only the session with a daemon has ended before, as far as anybody has seen. A restart would
/// have ended the connection.
bool is_same_server(const RestartNotice& notice) {
  return notice.previous && notice.previous->is_foreign && notice.pid == notice.previous_pid &&
         (notice.previous->reason == EndReason::session_lost ||
          notice.previous->reason == EndReason::killed_by_sitter);
}

/// The line that readers of mcp-sitter 0.2.0 know. The first server that serves was not
/// restarted.
std::string first_line(const RestartNotice& notice) {
  std::vector<std::string> parts;
  // The process of a daemon is not known.
  const std::string pid = notice.pid == 0 ? "" : fmt::format("pid {}, ", notice.pid);
  const std::string_view what = notice.is_first          ? "server started"
                                : is_same_server(notice) ? "session opened again"
                                                         : "server restarted";
  if (notice.is_description) {
    parts.push_back(fmt::format("[mcp-sitter] tools read{} (#{})", notice.is_first ? "" : " again",
                                notice.spawn));
  } else {
    parts.push_back(fmt::format("[mcp-sitter] {} (spawn #{}, {}startup {})", what, notice.spawn,
                                pid, duration_text(notice.startup)));
  }
  if (!notice.path.empty()) parts.push_back("path: " + brief(notice.path, kPathBytesMax));
  if (std::string words = binary_words(notice); !words.empty()) parts.push_back(std::move(words));
  if (notice.previous) parts.push_back("previous: " + previous_words(*notice.previous));
  if (!notice.tools.empty()) {
    parts.push_back("tools: " + summary(CatalogKind::tools, notice.tools, kNamesBytesMax));
  }
  return fmt::format("{}.", fmt::join(parts, ". "));
}

void add_details(std::string_view before_name, const CatalogDiff& diff,
                 std::vector<std::string>& lines) {
  for (const CatalogDiff::Change& change : diff.changed) {
    lines.push_back(fmt::format("{}{}: {}", before_name, one_line(change.name),
                                fmt::join(change.details, ", ")));
  }
  for (const std::string& signature : diff.signatures) {
    lines.push_back(fmt::format("{}{}", before_name, signature));
  }
}

std::string joined_names(const std::vector<std::string>& names, char sign = 0) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    if (sign != 0) text += sign;
    text += brief(name, kVersionBytesMax);
  }
  return text;
}

std::string capabilities_words(const RestartNotice& notice) {
  std::string words = joined_names(notice.capabilities_added, '+');
  const std::string removed = joined_names(notice.capabilities_removed, '-');
  if (!words.empty() && !removed.empty()) words += ", ";
  words += removed;
  // No message of the protocol can tell a client about new capabilities within a session.
  return "capabilities: " + words + " (seen by the client when it reconnects)";
}

void add_opening_lines(const RestartNotice& notice, std::vector<std::string>& lines) {
  const auto add_change = [&](std::string_view what,
                              const std::optional<RestartNotice::Change>& change) {
    if (!change) return;
    lines.push_back(fmt::format("{}: {} -> {}", what, brief(change->before, kVersionBytesMax),
                                brief(change->after, kVersionBytesMax)));
  };
  add_change("protocol version", notice.protocol_version);
  add_change("server", notice.server_info);
  if (!notice.capabilities_added.empty() || !notice.capabilities_removed.empty()) {
    lines.push_back(capabilities_words(notice));
  }
  if (notice.instructions_changed) {
    lines.push_back("instructions changed (seen by the client when it reconnects)");
  }
}

void add_list_lines(const RestartNotice& notice, std::vector<std::string>& lines) {
  if (!notice.prompts.empty()) {
    lines.push_back("prompts: " + summary(CatalogKind::prompts, notice.prompts, 200));
  }
  if (!notice.resources.empty()) {
    lines.push_back("resources: " + summary(CatalogKind::resources, notice.resources, 200));
  }
  if (!notice.not_compared.empty()) {
    std::vector<std::string_view> names;
    for (const CatalogKind kind : notice.not_compared) names.push_back(catalog_name(kind));
    lines.push_back(fmt::format(
        "not compared, because the server listed too many of them, or too late, or not at all: {}",
        fmt::join(names, ", ")));
  }
  if (!notice.subscriptions_lost.empty()) {
    lines.push_back("resource subscriptions refused by the server: " +
                    joined_names(notice.subscriptions_lost));
  }
}

void add_last_words(const RestartNotice& notice, std::vector<std::string>& lines) {
  const auto last = last_words(notice.last_words, kNoticeStderrLines);
  if (last.empty()) return;
  lines.push_back(fmt::format("its last words on stderr{}:",
                              tool_hint(brief(notice.stderr_tool, kVersionBytesMax))));
  for (const std::string_view line : last) lines.push_back(fmt::format("| {}", line));
}

/// What the changed tools cost in the context of a model.
std::string growth_words(const RestartNotice& notice) {
  // Before the first tools there was nothing that could grow.
  if (notice.tools.empty() || notice.tool_bytes_before == 0) return {};
  if (notice.tool_bytes == notice.tool_bytes_before) return {};
  const bool has_grown = notice.tool_bytes > notice.tool_bytes_before;
  return fmt::format("the definitions of the tools {} by {} to {}", has_grown ? "grew" : "shrank",
                     counted(has_grown ? notice.tool_bytes - notice.tool_bytes_before
                                       : notice.tool_bytes_before - notice.tool_bytes,
                             "byte"),
                     notice.tool_bytes);
}

/// Everything but the details of tools, prompts and resources, which may be many.
std::vector<std::string> other_lines(const RestartNotice& notice) {
  std::vector<std::string> lines;
  add_last_words(notice, lines);
  if (!notice.call_tool.empty() && !notice.tools.added.empty()) {
    lines.push_back(fmt::format(
        R"(call a new tool with {0} {{"tool": {1}, "arguments": {{...}}}} if it is not in your list of tools; if {0} is deferred, search for "{0}")",
        notice.call_tool, json_string(brief(notice.tools.added.front(), kVersionBytesMax))));
  }
  if (notice.failed_build) {
    lines.push_back(
        fmt::format("{}, so this is the program from before it; fix the error and build again{}",
                    build_clause(*notice.failed_build),
                    tool_hint(brief(notice.log_tool, kVersionBytesMax), "shows the build")));
  }
  if (const std::string words = growth_words(notice); !words.empty()) lines.push_back(words);
  add_opening_lines(notice, lines);
  if (notice.restarts > 1) {
    lines.push_back(fmt::format("{} restarts since the last notice", notice.restarts));
  }
  if (notice.failed_starts > 0) {
    std::string line = counted(static_cast<std::size_t>(notice.failed_starts), "start") +
                       " failed before this one";
    if (notice.last_failure) line += ", the last: " + end_clause(*notice.last_failure);
    lines.push_back(std::move(line));
  }
  add_list_lines(notice, lines);
  return lines;
}

/// Shortens the lines and counts how many of them fit into `room`. `room` becomes smaller by their
/// size.
std::size_t taken(std::vector<std::string>& lines, std::size_t& room) {
  std::size_t count = 0;
  for (; count < lines.size(); ++count) {
    lines[count] = brief(lines[count], kLineBytesMax);
    if (lines[count].size() + 1 > room) break;
    room -= lines[count].size() + 1;
  }
  return count;
}

}  // namespace

std::optional<Milliseconds> known_age(WallTime modified, WallTime now) {
  if (now - modified >= limits::kKnownAgeMax) return std::nullopt;
  return std::chrono::floor<Milliseconds>(now - modified);
}

std::string notice_text(const RestartNotice& notice, std::size_t bytes_max) {
  std::vector<std::string> details;
  add_details("", notice.tools, details);
  add_details("prompt ", notice.prompts, details);
  add_details("resource ", notice.resources, details);
  std::vector<std::string> others = other_lines(notice);

  const std::size_t room_max = bytes_max - kRestLineBytes;
  std::string text = first_line(notice);
  if (text.size() > room_max) text = shortened(text, room_max - cut_mark(text.size()).size());
  std::size_t room = room_max - text.size();
  // The details come first in the text. But there may be any number of them and only few other
  // lines, so the other lines get their room first.
  const std::size_t other_count = taken(others, room);
  const std::size_t detail_count = taken(details, room);
  for (std::size_t i = 0; i < detail_count; ++i) text += "\n" + details[i];
  for (std::size_t i = 0; i < other_count; ++i) text += "\n" + others[i];
  const std::size_t left_out = details.size() - detail_count + others.size() - other_count;
  if (left_out > 0) {
    text += "\n" + counted(left_out, "more line") + " left out";
    if (!notice.status_tool.empty()) {
      text += fmt::format(": {} shows all", brief(notice.status_tool, kVersionBytesMax));
    }
  }
  return text;
}

void describe_changes(const OpeningResult& told, const OpeningResult& now_open,
                      RestartNotice& notice) {
  const bool has_versions = !told.protocol_version.empty() && !now_open.protocol_version.empty();
  if (has_versions && told.protocol_version != now_open.protocol_version) {
    notice.protocol_version = {told.protocol_version, now_open.protocol_version};
  }
  const auto full_name = [](const OpeningResult& opened) {
    return fmt::format("{} {}", opened.server_name(), opened.server_version());
  };
  const bool are_named = !told.server_info.empty() && !now_open.server_info.empty();
  if (are_named && full_name(told) != full_name(now_open)) {
    notice.server_info = {full_name(told), full_name(now_open)};
  }
  // Without an opening nobody has asked this child for the rest.
  if (now_open.protocol_version.empty()) return;
  for (const std::string& name : now_open.capability_names()) {
    if (!told.declares(name)) notice.capabilities_added.push_back(name);
  }
  for (const std::string& name : told.capability_names()) {
    if (!now_open.declares(name)) notice.capabilities_removed.push_back(name);
  }
  notice.instructions_changed = told.instructions != now_open.instructions;
}

}  // namespace sitter
