#include "core/tell/notices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

/// Some servers write null for a member that they leave out.
bool is_there(std::string_view raw) { return !raw.empty() && raw != "null"; }

}  // namespace

void Notices::on_restart(RestartNotice notice) {
  notice.restarts = restart_ ? restart_->restarts + 1 : 1;
  restart_ = std::move(notice);
  was_beside_structure_ = false;
}

void Notices::add_replay_failure(std::string failure) {
  replay_failures_.push_back(std::move(failure));
  if (replay_failures_.size() > limits::kReplayFailuresMax) {
    replay_failures_.erase(replay_failures_.begin());
  }
}

void Notices::on_reload_failed(std::string text) {
  reload_failure_ = std::move(text);
  was_beside_structure_ = false;
}

bool Notices::fits(std::string_view result) const {
  const auto [content, structured, task, type] =
      members<4>(result, {"content", "structuredContent", "task", "resultType"});
  if (!is_array(content) || is_object(task)) return false;
  if (!type.empty() && type != "\"complete\"") return false;
  return !is_there(structured) || !was_beside_structure_;
}

bool Notices::put(std::string_view raw_id, std::string_view result, const NoticeFacts& known,
                  Edits& edits) {
  const auto [content, structured] = members<2>(result, {"content", "structuredContent"});
  if (is_there(structured)) {
    edits.append(content, text_block(text(known)));
    was_beside_structure_ = true;
    return false;
  }
  edits.prepend(content, text_block(tell(raw_id, known)));
  return true;
}

std::string Notices::text(const NoticeFacts& known) const {
  if (!restart_) return remarks(known);
  RestartNotice notice = *restart_;
  notice.tools = known.tools;
  notice.prompts = known.prompts;
  notice.resources = known.resources;
  notice.failed_starts = failed_starts_;
  if (failed_starts_ > 0) notice.last_failure = known.failed_start;
  notice.status_tool = known.status_tool;
  notice.call_tool = known.call_tool;
  if (known.noise && known.noise->gen != noise_told_of_) {
    notice.stdout_line_count = static_cast<std::size_t>(known.noise->line_count);
    notice.stdout_line = known.noise->first_line;
  }
  std::string text = notice_text(notice);
  if (const std::string more = remarks(known); !more.empty()) text += "\n" + more;
  return text;
}

/// The lines of the notice that are not about a restart.
std::string Notices::remarks(const NoticeFacts& known) const {
  std::vector<std::string> lines;
  if (!unread_.empty()) lines.push_back(unread_);
  if (!reload_failure_.empty()) lines.push_back(reload_failure_);
  for (const std::string& failure : replay_failures_) {
    lines.push_back(fmt::format("[mcp-sitter] Called again, and failed: {}", one_line(failure)));
  }
  if (!known.watch_problem.empty()) {
    lines.push_back(
        fmt::format("[mcp-sitter] Not every save is noticed: {}.", known.watch_problem));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string Notices::tell(std::string_view raw_id, const NoticeFacts& known) {
  std::string told = text(known);
  restart_.reset();
  failed_starts_ = 0;
  replay_failures_.clear();
  reload_failure_.clear();
  unread_.clear();
  was_beside_structure_ = false;
  if (known.noise) noise_told_of_ = known.noise->gen;
  told_ = {std::string(raw_id), told};
  return told;
}

void Notices::on_answered_cancelled(std::string_view raw_id) {
  if (!told_ || !same_id(told_->id, raw_id)) return;
  unread_ = shortened(told_->text, limits::kNoticeBytesMax);
  told_.reset();
}

}  // namespace sitter
