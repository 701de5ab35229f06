#include "core/report/notices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"

namespace sitter {
namespace {

void add_lint_lines(const NoticeFacts& known, std::vector<std::string>& lines) {
  const std::size_t shown = std::min(known.lint.size(), limits::kLintShownMax);
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(fmt::format("[mcp-sitter] lint: {}", known.lint[i]));
  }
  if (const std::size_t more = known.lint.size() - shown; more > 0) {
    lines.push_back(fmt::format(
        "[mcp-sitter] lint: {}{}", counted(more, "more finding"),
        known.status_tool.empty() ? "" : fmt::format(": {} shows all", known.status_tool)));
  }
}

}  // namespace

void Notices::on_restart(RestartNotice notice) {
  notice.restarts = owed_.restart ? owed_.restart->restarts + 1 : 1;
  owed_.restart = std::move(notice);
  was_beside_structure_ = false;
}

void Notices::add_replay_failure(std::string failure) {
  owed_.replay_failures.push_back(std::move(failure));
  if (owed_.replay_failures.size() > limits::kReplayFailuresMax) {
    owed_.replay_failures.erase(owed_.replay_failures.begin());
  }
}

void Notices::forget_replay_failures(std::string_view tool) {
  std::erase_if(owed_.replay_failures, [&](std::string_view failure) {
    return failure.starts_with(tool) && failure.substr(tool.size()).starts_with(": ");
  });
}

void Notices::on_reload_failed(std::string text) {
  owed_.reload_failure = std::move(text);
  was_beside_structure_ = false;
}

bool takes_text(std::string_view result) {
  const auto [content, task, type] = members<3>(result, {"content", "task", "resultType"});
  return is_array(content) && !is_object(task) && is_complete(type);
}

void put_text(std::string_view result, std::string_view text, Edits& edits) {
  const auto [content, structured] = members<2>(result, {"content", "structuredContent"});
  if (is_there(structured)) {
    edits.append(content, text_block(text));
  } else {
    edits.prepend(content, text_block(text));
  }
}

bool Notices::fits(std::string_view result) const {
  return takes_text(result) &&
         (!was_beside_structure_ || !is_there(member(result, "structuredContent")));
}

bool Notices::put(std::string_view raw_id, std::string_view result, const NoticeFacts& known,
                  Edits& edits) {
  if (!fits(result)) {
    put_text(result, kTag + known.old_code, edits);
    return false;
  }
  if (is_there(member(result, "structuredContent"))) {
    put_text(result, text(known), edits);
    was_beside_structure_ = true;
    return false;
  }
  put_text(result, tell(raw_id, known), edits);
  return true;
}

void Notices::put_into_error(std::string_view raw_id, std::string_view error,
                             const NoticeFacts& known, Edits& edits) {
  append_to_error(error, tell(raw_id, known), edits);
}

std::string Notices::text(const NoticeFacts& known) const {
  if (!owed_.restart) return remarks(known);
  RestartNotice notice = *owed_.restart;
  notice.tools = known.tools;
  notice.tool_bytes_before = known.tool_bytes_before;
  notice.tool_bytes = known.tool_bytes;
  notice.prompts = known.prompts;
  notice.resources = known.resources;
  notice.failed_starts = owed_.failed_starts;
  if (owed_.failed_starts > 0) notice.last_failure = known.failed_start;
  notice.status_tool = known.status_tool;
  notice.stderr_tool = known.stderr_tool;
  notice.failed_build = known.failed_build;
  notice.log_tool = known.log_tool;
  notice.call_tool = known.call_tool;
  std::string text = notice_text(notice);
  if (const std::string more = remarks(known); !more.empty()) text += "\n" + more;
  return text;
}

/// The lines of the notice that are not about a restart.
std::string Notices::remarks(const NoticeFacts& known) const {
  std::vector<std::string> lines = owed_.crash_lines;
  if (!owed_.restart && known.has_list_news) {
    for (const auto& [kind, diff] : {std::pair(CatalogKind::tools, &known.tools),
                                     std::pair(CatalogKind::prompts, &known.prompts),
                                     std::pair(CatalogKind::resources, &known.resources)}) {
      if (diff->empty()) continue;
      lines.push_back(fmt::format("{}{}: {}", kTag, catalog_name(kind), summary(kind, *diff)));
    }
  }
  if (!known.instructions.empty()) {
    lines.push_back(
        fmt::format("[mcp-sitter] The opening was answered before the server came. The server's "
                    "instructions:\n{}",
                    shortened(readable(known.instructions), limits::kInstructionBytesMax)));
  }
  if (!owed_.unread.empty()) lines.push_back(owed_.unread);
  if (!owed_.reload_failure.empty()) lines.push_back(owed_.reload_failure);
  for (const std::string& failure : owed_.replay_failures) {
    lines.push_back(fmt::format(
        "[mcp-sitter] a call that is made again after each restart (--replay-call) failed: {}",
        one_line(failure)));
  }
  if (!known.own_writes.empty()) lines.push_back(kTag + known.own_writes + ".");
  if (!known.given_up.empty()) lines.push_back(kTag + known.given_up + ".");
  if (!known.watch_problem.empty()) {
    lines.push_back(
        fmt::format("[mcp-sitter] Not every save is noticed: {}.", known.watch_problem));
  }
  if (known.noise && must_tell(*known.noise)) {
    const bool is_one = known.noise->line_count == 1;
    const std::string what =
        known.noise->is_echo
            ? fmt::format("sends back what it is sent ({} line{}), as a terminal or cat does",
                          known.noise->line_count, is_one ? "" : "s")
            : fmt::format("wrote {} line{} that {} (log to stderr instead)",
                          known.noise->line_count, is_one ? "" : "s",
                          is_one ? "is not an MCP message" : "are not MCP messages");
    lines.push_back(fmt::format("[mcp-sitter] stdout: the server (spawn #{}) {}, first: {}",
                                known.noise->gen, what, known.noise->first_line));
  }
  add_lint_lines(known, lines);
  if (!known.old_code.empty()) lines.push_back(kTag + known.old_code);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string Notices::tell(std::string_view raw_id, const NoticeFacts& known) {
  std::string told = show(known);
  tell_shown(raw_id);
  return told;
}

std::string Notices::show(const NoticeFacts& known) {
  NoticeFacts lasting = known;
  lasting.old_code.clear();
  shown_ = {owed_, known.watch_problem, !known.old_code.empty(), {}, text(lasting), known.lint};
  if (known.noise) shown_.noisy = known.noise->gen;
  return shown_.has_old_code ? text(known) : shown_.text;
}

void Notices::tell_shown(std::string_view raw_id) {
  const Owed& told = shown_.owed;
  const auto is_told = [&](const std::string& failure) {
    return std::find(told.replay_failures.begin(), told.replay_failures.end(), failure) !=
           told.replay_failures.end();
  };
  owed_.restart.reset();
  owed_.failed_starts -= told.failed_starts;
  std::erase_if(owed_.crash_lines, [&](const std::string& line) {
    return std::find(told.crash_lines.begin(), told.crash_lines.end(), line) !=
           told.crash_lines.end();
  });
  std::erase_if(owed_.replay_failures, is_told);
  if (owed_.reload_failure == told.reload_failure) owed_.reload_failure.clear();
  if (owed_.unread == told.unread) owed_.unread.clear();
  was_beside_structure_ = false;
  if (shown_.noisy) noise_told_of_ = *shown_.noisy;
  told_ = {std::string(raw_id), shown_.text, shown_.has_old_code};
}

bool Notices::on_answered_cancelled(std::string_view raw_id) {
  if (!told_ || !same_id(told_->id, raw_id)) return false;
  owed_.unread = shortened(told_->text, limits::kNoticeBytesMax);
  return std::exchange(told_, {})->has_old_code;
}

}  // namespace sitter
