#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/build/watched_changes.hpp"
#include "core/client/turn.hpp"
#include "sitter/fact.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The watched files: when a change in them is reason for a reload, and how well they are watched.
class Watch {
 public:
  struct Options {
    /// Whether anything is watched.
    bool is_on = false;
    /// What changes is built before it runs.
    bool has_build = false;
    /// How long nothing must have changed.
    Milliseconds debounce{};
  };
  explicit Watch(Options options) : options_(options), changes_(options.debounce) {}

  bool is_on() const { return options_.is_on; }

  void on_changed(const fact::FilesChanged& fact, Now now);
  void on_watched(const fact::WatchChanged& fact, const Turn& turn);

  /// A build begins, a child is started; neither runs any more.
  void on_build();
  void on_start();
  void on_over(Now now);

  /// Why a reload came without being asked for.
  struct Trigger {
    /// The first files that changed, and how many did.
    std::vector<std::string> files;
    std::size_t count = 0;
    WallTime when;
  };
  std::optional<Instant> deadline() const;
  /// Once the deadline has come: the reason for a reload, if there is one. To be `take`n or left.
  std::optional<Trigger> due(const Turn& turn);
  /// It leads to a reload.
  void take(Trigger trigger) { last_trigger_ = std::move(trigger); }
  /// Nobody wants a reload because of it.
  void leave() { changes_.forget(); }

  std::size_t folder_count() const { return folder_count_; }
  /// Why some changes are not seen; empty if all are.
  const std::string& problem() const { return problem_; }
  /// And whether the model has still to be told of it.
  bool has_news() const { return has_news_; }
  void on_told() { has_news_ = false; }
  const std::optional<Trigger>& last_trigger() const { return last_trigger_; }
  /// Files that reloads write themselves.
  std::vector<std::string> own() const { return changes_.own(); }

 private:
  const Options options_;
  WatchedChanges changes_;
  std::size_t folder_count_ = 0;
  std::string problem_;
  bool has_news_ = false;
  std::optional<Trigger> last_trigger_;
};

/// These files, and how many more of `count` there are, in words.
std::string files_text(const std::vector<std::string>& files, std::size_t count);

}  // namespace sitter
