#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/child/history.hpp"
#include "core/tell/restart_notice.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/generation.hpp"

namespace sitter {

/// What is known only when the text is written.
struct NoticeFacts {
  CatalogDiff tools, prompts, resources;
  /// The last start that failed.
  std::optional<ChildEnd> failed_start;
  std::optional<History::Noise> noise;
  /// Why not every save is noticed, if that is news.
  std::string watch_problem;
  std::string status_tool;
  /// Empty if it is not offered.
  std::string call_tool;
};

/// What the model has still to be told, in the next tool result that can hold it, and once: of a
/// restart, and of what has failed without an answer of its own.
class Notices {
 public:
  /// One notice stands for all restarts since the last that was told.
  void on_restart(RestartNotice notice);
  void on_failed_start() { ++failed_starts_; }
  /// A call that was made again at a new child has failed. Of many only the newest are told.
  void add_replay_failure(std::string failure);
  /// A reload that nobody waited for has brought no new server: the text for the model.
  void on_reload_failed(std::string text);
  /// A new server has mended what failed.
  void forget_reload_failure() { reload_failure_.clear(); }

  bool has_any() const {
    return restart_ || !reload_failure_.empty() || !replay_failures_.empty() || !unread_.empty();
  }
  /// The restart that is to be told; null if there is none.
  RestartNotice* restart() { return restart_ ? &*restart_ : nullptr; }

  /// Whether it can stand in this raw result of a tools/call: beside structured content only once,
  /// since it is not told by that.
  bool fits(std::string_view result) const;
  /// Puts it into a result that it fits. First, where the model reads it before the result; last
  /// beside structured content, where some clients parse the first block as its copy. Returns
  /// whether it is told by that.
  bool put(std::string_view raw_id, std::string_view result, const NoticeFacts& known,
           Edits& edits);
  std::string text(const NoticeFacts& known) const;
  /// The text, which the answer to the request with this raw id holds.
  std::string tell(std::string_view raw_id, const NoticeFacts& known);
  /// The client has given up a request that is answered already. If its answer held the last
  /// notice, nobody has read that.
  void on_answered_cancelled(std::string_view raw_id);

 private:
  std::string remarks(const NoticeFacts& known) const;

  std::optional<RestartNotice> restart_;
  int failed_starts_ = 0;
  std::vector<std::string> replay_failures_;
  std::string reload_failure_;
  /// A notice whose result the client has cancelled.
  std::string unread_;
  bool was_beside_structure_ = false;
  Generation noise_told_of_ = kNoGeneration;
  /// The last notice that was told, and the raw id of the call whose result holds it.
  struct Told {
    std::string id;
    std::string text;
  };
  std::optional<Told> told_;
};

}  // namespace sitter
