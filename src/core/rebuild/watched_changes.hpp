#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/rebuild/late_writes.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many of the changed files sitter_status names.
inline constexpr std::size_t kChangedFilesShown = 10;

/// If a file changes in this many reloads in a row, the bridge assumes that the reloads write it. A
/// user who goes on editing may save the same file during each of a few builds, and never in
/// between: if this happens in so many, the bridge reports that it ignored the file.
inline constexpr int kOwnWritesInARow = 5;

/// If only changes during reloads have led to this many reloads in a row, no further reload
/// follows, whatever the names of the files are: some builds give their output files a new name
/// each time.
inline constexpr int kFollowingReloadsMax = 10;

}  // namespace limits

/// What has changed in the watched files, and when that is a reason for a reload: when nothing has
/// changed for a while.
///
/// A reload may miss a change that is made while it runs, so such a change leads to one more
/// reload. But a build, or a server at its start, may itself write into watched folders, and nobody
/// can tell which program wrote a file. Therefore a file that changes in each of several reloads in
/// a row is assumed to be written by them, until the file changes while no reload runs.
class WatchedChanges {
 public:
  /// `debounce`: how long the files must stay unchanged before a reload.
  explicit WatchedChanges(Milliseconds debounce) : debounce_(debounce) {}

  /// `is_usable` is false for a file from which nothing can be started yet. Such a change only
  /// restarts the wait. Returns false if the change is assumed to be the work of a reload or of the
  /// server.
  bool on_changed(std::string_view file, bool is_usable, Now now);

  /// A build begins. It reads all changes so far.
  void on_build();
  /// A child is started. With `reads_all` the child reads all changes so far, because nothing is
  /// built.
  void on_start(bool reads_all, Now now);
  /// No build runs, and no child is starting. Their own changes may still be reported for a moment.
  void on_over(Now now);
  /// The new child has answered the client, who may change files for the next reload from now on.
  void on_answer();
  /// The client waits for an answer.
  void on_waiting() { late_.on_client(); }
  /// Whether a reload runs, or has ended so recently that its changes may still be reported.
  bool is_reload_on() const { return state_ != State::idle; }
  /// Nobody wants a reload for the changes so far.
  void forget() {
    changed_.clear();
    due_.clear();
  }

  /// Whether a reload is due. No reload is due while a build runs.
  bool is_settled(Now now);
  std::optional<Instant> deadline() const;

  /// The first files that have changed since the last reload began, and how many files have
  /// changed.
  std::vector<std::string> files() const;
  std::size_t count() const { return changed_.size(); }

  /// The files that are assumed to be written by reloads, or by the server after its start.
  std::vector<std::string> own() const;
  /// The files that were added to `own()` since the last call. Each file is returned once.
  std::vector<std::string> take_newly_own();
  std::vector<std::string> take_newly_late();

 private:
  ///     idle --> building --> starting --> ending --> idle
  ///       \----------------------^
  ///
  /// A build or a start may also follow `starting` or `ending`, and `building` may end without a
  /// start.
  enum class State {
    idle,
    building,  ///< a build runs; what changes now may come from it or from a person
    starting,  ///< a child starts, and may write files at its start
    ending,    ///< nothing runs any more, but its last changes may still be reported, until the
               ///< files have not changed for a while, or the new child has answered the client
  };
  using Files = LateWrites::Files;

  bool is_own(std::string_view file) const;
  void read_changes();
  void begin();
  void sort_out();
  void end_row();

  Milliseconds debounce_;
  State state_ = State::idle;
  std::optional<Instant> settled_at_;
  Files changed_;
  /// The files that have changed in this reload, including files that are no longer in `changed_`.
  Files changed_in_reload_;
  /// In how many reloads in a row each file has changed.
  std::map<std::string, int, std::less<>> in_a_row_;
  std::vector<std::string> newly_own_, newly_late_;
  /// How many reloads have followed since the last change outside a reload.
  int following_ = 0;
  LateWrites late_;
  /// The changes that are due for a reload, and the changes that alone have led to the reload which
  /// has begun.
  Files due_, causes_;
};

}  // namespace sitter
