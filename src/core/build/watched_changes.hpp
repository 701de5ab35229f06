#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/time.hpp"

namespace sitter {

/// What has changed in the watched files, and when that is reason for a reload: when nothing has
/// changed for a while.
///
/// What changes while a reload runs may have been missed by it, so it leads to one more. But a
/// build, or a server at its start, may itself write into watched folders, and nobody can tell who
/// wrote a file. So what changes in each of several reloads in a row is taken for their own work,
/// until it changes without one.
class WatchedChanges {
 public:
  /// `debounce`: how long nothing must have changed.
  explicit WatchedChanges(Milliseconds debounce) : debounce_(debounce) {}

  /// `is_usable` is false for a file that nothing can be started from yet; it is waited for.
  void on_changed(std::string_view file, bool is_usable, Now now);

  /// A build begins, which reads all that has changed so far.
  void on_build();
  /// A child is started. `reads_all`: and it reads what has changed so far, since nothing is built.
  void on_start(bool reads_all);
  /// No build runs, and no child is on its way. What they wrote may be reported for a moment.
  void on_over(Now now);
  /// Between the two.
  bool is_reload_on() const { return state_ != State::idle; }
  /// Nobody wants a reload because of what has changed so far.
  void forget() { changed_.clear(); }

  /// Whether a reload is due; not while a build runs.
  bool is_settled(Now now);
  std::optional<Instant> deadline() const;

  /// The first files that have changed since the last reload began, and how many have.
  std::vector<std::string> files() const;
  std::size_t count() const { return changed_.size(); }

  /// Files that are taken for the work of reloads.
  std::vector<std::string> own() const;
  /// And those that newly are, each given once.
  std::vector<std::string> take_newly_own();

 private:
  enum class State { idle, building, starting, ending };
  using Files = std::set<std::string, std::less<>>;

  void begin();
  void sort_out();
  void end_row();

  Milliseconds debounce_;
  State state_ = State::idle;
  std::optional<Instant> settled_at_;
  Files changed_;
  /// In this reload, of which those that were counted are not in `changed_` any more.
  Files changed_in_reload_;
  /// In how many reloads in a row a file has changed.
  std::map<std::string, int, std::less<>> in_a_row_;
  std::vector<std::string> newly_own_;
  /// Reloads since the last change outside of one.
  int following_ = 0;
};

}  // namespace sitter
