#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/child/history.hpp"
#include "core/report/restart_notice.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/bytes.hpp"
#include "sitter/generation.hpp"

namespace sitter {

namespace limits {

/// How many failures of repeated calls the next notice reports. Nobody is likely to name more
/// tools.
inline constexpr std::size_t kReplayFailuresMax = 10;

/// How many lines about crashes the next notice has. A crash has two of them at most.
inline constexpr std::size_t kCrashLinesMax = 4;

/// How many findings of the lint one notice tells, so that they leave room for the result as well.
inline constexpr std::size_t kLintShownMax = 10;

/// How much of the server's instructions a notice has. Claude Code shows as much of them.
inline constexpr std::size_t kInstructionBytesMax = 2 * kKiB;

}  // namespace limits

/// Facts that are only known when the text is written.
struct NoticeFacts {
  CatalogDiff tools, prompts, resources;
  /// They must be told without a restart.
  bool has_list_news = false;
  /// The size of the definitions of all tools, as the model knows them and now.
  std::size_t tool_bytes_before = 0;
  std::size_t tool_bytes = 0;
  /// The last start that failed.
  std::optional<ChildEnd> failed_start;
  std::optional<History::Noise> noise;
  /// The last build, if it failed and no other program has come since.
  std::optional<BuildResult> failed_build;
  /// Why not every save is noticed, if the model was not told yet.
  std::string watch_problem;
  /// Which watched files cause no reload any more, and why, if the model was not told yet.
  std::string own_writes;
  /// Which calls the client has given up, and what the server does, as a clause.
  std::string given_up;
  /// The findings of the lint that the model was not told yet.
  std::vector<std::string> lint;
  /// The instructions of the server; empty if the client was told them at the opening, or later.
  std::string instructions;
  /// That old code has given the result which this notice is put into; empty if the model need not
  /// be told.
  std::string old_code;
  /// Empty for a tool that is not offered.
  std::string status_tool;
  std::string stderr_tool;
  std::string log_tool;
  std::string call_tool;
};

/// Begins each text of the bridge that stands among those of the server.
inline const std::string kTag = "[mcp-sitter] ";

/// Whether text can be put into this raw result of a tools/call.
bool takes_text(std::string_view result);
/// Puts text into a result that takes it. Usually the text comes first, so that the model reads it
/// before the result. Beside structured content it comes last, because some clients parse the first
/// block as a copy of that content.
void put_text(std::string_view result, std::string_view text, Edits& edits);

/// What the model must still be told once, in the next tool result that can hold it: about a
/// restart, and about failures that no answer has reported.
class Notices {
 public:
  /// A notice stands for all restarts since the last notice.
  void on_restart(RestartNotice notice);
  /// More was found out about the restart that must still be told.
  void amend_restart(RestartNotice notice) { owed_.restart = std::move(notice); }
  void on_failed_start() { ++owed_.failed_starts; }
  /// A call that was made again at a new child has failed: "connect: no such host". Only the newest
  /// failures are told.
  void add_replay_failure(std::string failure);
  /// The tool is called once more, so that the earlier failures no longer matter.
  void forget_replay_failures(std::string_view tool);
  /// A reload that nobody waited for has brought no new server. `text` is for the model.
  void on_reload_failed(std::string text);
  /// Another line about a crash, for the model.
  void on_crash(std::string line) {
    std::erase(owed_.crash_lines, line);
    owed_.crash_lines.push_back(std::move(line));
    if (owed_.crash_lines.size() > limits::kCrashLinesMax) {
      owed_.crash_lines.erase(owed_.crash_lines.begin());
    }
    was_beside_structure_ = false;
  }
  void on_crash_told(const std::string& line) { std::erase(owed_.crash_lines, line); }
  /// Something else must be told that `NoticeFacts` holds.
  void on_news() { was_beside_structure_ = false; }
  /// A new server serves, so the failed reload no longer matters.
  void forget_reload_failure() { owed_.reload_failure.clear(); }

  bool has_any() const {
    return owed_.restart || !owed_.reload_failure.empty() || !owed_.replay_failures.empty() ||
           !owed_.unread.empty() || !owed_.crash_lines.empty();
  }
  bool must_tell(const History::Noise& noise) const { return noise.gen > noise_told_of_; }
  /// The restart that must still be told; null if there is none.
  const RestartNotice* restart() const { return owed_.restart ? &*owed_.restart : nullptr; }

  /// Whether the notice can be put into this raw result of a tools/call. It is put beside
  /// structured content only once, because it does not count as told there.
  bool fits(std::string_view result) const;
  /// Puts the notice into a result that takes text. If the notice does not fit, puts only what it
  /// says of this result. Returns whether the notice counts as told.
  bool put(std::string_view raw_id, std::string_view result, const NoticeFacts& known,
           Edits& edits);
  /// Puts the notice behind the message of an error that has one, because the message is all that a
  /// model reads of an error. The notice counts as told.
  void put_into_error(std::string_view raw_id, std::string_view error, const NoticeFacts& known,
                      Edits& edits);
  std::string text(const NoticeFacts& known) const;
  /// Returns the text, which counts as told in the answer to the request with this raw id.
  std::string tell(std::string_view raw_id, const NoticeFacts& known);
  /// Returns the text for an answer that leaves later, when `tell_shown` is called.
  std::string show(const NoticeFacts& known);
  /// What the last text that was shown says about the watch, and about the lint.
  const std::string& shown_watch_problem() const { return shown_.watch_problem; }
  const std::vector<std::string>& shown_lint() const { return shown_.lint; }
  /// Whether the last text that was shown says that old code has answered.
  bool has_shown_old_code() const { return shown_.has_old_code; }
  /// The text that was shown last counts as told in the answer to the request with this raw id.
  /// What has happened after `show` is still owed.
  void tell_shown(std::string_view raw_id);
  /// The client has cancelled a request that was already answered. If the answer held the last
  /// notice, nobody has read that notice, and `on_answered_cancelled` returns whether that notice
  /// said that old code has answered.
  bool on_answered_cancelled(std::string_view raw_id);

 private:
  struct Owed {
    std::optional<RestartNotice> restart;
    int failed_starts = 0;
    std::vector<std::string> replay_failures;
    std::string reload_failure;
    std::vector<std::string> crash_lines;
    /// A notice in a result that the client has cancelled.
    std::string unread;
  };
  struct Shown {
    Owed owed;
    std::string watch_problem;
    bool has_old_code = false;
    std::optional<Generation> noisy;
    /// Without the words about old code, which are not true any more when another child serves.
    std::string text;
    std::vector<std::string> lint;
  };

  std::string remarks(const NoticeFacts& known) const;

  Owed owed_;
  Shown shown_;
  bool was_beside_structure_ = false;
  Generation noise_told_of_ = kNoGeneration;
  /// The last notice that was told, and the raw id of the call whose result holds it.
  struct Told {
    std::string id;
    std::string text;
    bool has_old_code = false;
  };
  std::optional<Told> told_;
};

}  // namespace sitter
