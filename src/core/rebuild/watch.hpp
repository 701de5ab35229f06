#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/client/turn.hpp"
#include "core/rebuild/unserved_changes.hpp"
#include "core/rebuild/watched_changes.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The watched files: when a change in them is a reason for a reload, and how well they are
/// watched.
class Watch {
 public:
  struct Options {
    /// Whether anything is watched.
    bool is_on = false;
    /// Whether changed files are built before they run.
    bool has_build = false;
    /// See `UnservedChanges::Options`.
    std::vector<std::string> built_endings = {};
    bool is_binary_built = true;
    /// How long the files must stay unchanged before a reload.
    Milliseconds debounce{};
    /// How long requests wait for the code that was saved.
    Milliseconds fresh_wait{};
  };
  explicit Watch(const Options& options)
      : is_on_(options.is_on),
        has_build_(options.has_build),
        changes_(options.debounce),
        unserved_({options.has_build, options.built_endings, options.is_binary_built,
                   options.debounce, options.fresh_wait}) {}

  bool is_on() const { return is_on_; }
  const UnservedChanges& unserved() const { return unserved_; }

  void on_changed(const fact::FilesChanged& fact, Now now);
  void on_watched(const fact::WatchChanged& fact, const Turn& turn);

  /// `on_build`: a build begins. `on_built`: it has succeeded. `on_start`: a child is started.
  /// `on_serving`: a child serves. `on_over`: no build runs any more, and no child is starting.
  void on_build();
  void on_built() { unserved_.on_built(); }
  void on_start(Generation gen, Now now);
  void on_serving(Generation gen) { unserved_.on_serving(gen); }
  void on_over(Now now);
  /// The child that serves has answered the client.
  void on_answer() { changes_.on_answer(); }
  /// The client waits for an answer.
  void on_waiting() { changes_.on_waiting(); }

  /// The cause of a reload that nobody asked for.
  struct Trigger {
    /// The first files that changed, and how many files changed.
    std::vector<std::string> files;
    std::size_t count = 0;
    WallTime when;
  };
  std::optional<Instant> deadline() const;
  /// Once the deadline has come, returns the reason for a reload, if there is one. The caller must
  /// then call `take` or `leave`.
  std::optional<Trigger> due(const Turn& turn);
  /// The trigger leads to a reload.
  void take(Trigger trigger) { last_trigger_ = std::move(trigger); }
  /// Nobody wants a reload for the changes so far. Until a server runs them, they are told.
  void leave();

  std::size_t folder_count() const { return folder_count_; }
  /// Why some changes are not seen; empty if all changes are seen.
  const std::string& problem() const { return problem_; }
  /// The patterns that no file matches.
  const std::vector<std::string>& unmatched() const { return unmatched_; }
  /// Whether the model must still be told of the problem.
  bool has_news() const { return has_news_; }
  void on_told() { has_news_ = false; }
  /// Which files cause no reload any more, if the model was not told yet; otherwise empty.
  const std::string& own_news() const { return own_news_; }
  void on_own_told() { own_news_.clear(); }
  const std::optional<Trigger>& last_trigger() const { return last_trigger_; }
  /// The files that are assumed to be written by the reloads themselves, or by the server.
  std::vector<std::string> own() const { return changes_.own(); }

 private:
  const bool is_on_;
  const bool has_build_;
  WatchedChanges changes_;
  UnservedChanges unserved_;
  std::size_t folder_count_ = 0;
  std::string problem_;
  std::vector<std::string> unmatched_;
  bool has_news_ = false;
  std::string own_news_;
  std::optional<Trigger> last_trigger_;
};

/// Names these files, and says how many more of `count` there are.
std::string files_text(const std::vector<std::string>& files, std::size_t count);

}  // namespace sitter
