#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The changes of watched files that the child which serves does not run yet, and until when
/// requests wait for them. A change is first read, by a build or by a child that starts without a
/// build, and counts until a child serves that runs it. Who builds without our build command shows
/// only in the file of the server, so such a change counts on.
class UnservedChanges {
 public:
  struct Options {
    /// Whether changed files are built before they run.
    bool has_build = false;
    /// Without a build command: the endings of the sources that somebody else builds, and whether
    /// the file of the server is made by such a build.
    std::vector<std::string> built_endings;
    bool is_binary_built = true;
    /// Changes with shorter pauses between them are one change.
    Milliseconds debounce{};
    /// How long requests wait for each change. Zero: not at all.
    Milliseconds wait{};
  };
  explicit UnservedChanges(Options options) : options_(std::move(options)) {}

  /// `when`: when the file was changed, as far as the file shows it.
  void on_changed(const fact::FilesChanged::File& file, WallTime when, Now now);
  /// Somebody else has built all changes so far, and the next child runs them.
  void on_built_elsewhere();
  /// A build begins, which reads all changes so far.
  void on_build() { read_ = built_ = newest_; }
  /// The last build has succeeded. The next child runs what this build has read.
  void on_built() { runnable_ = built_; }
  /// A child is started. It reads all changes so far if nothing is built.
  void on_start(Generation gen);
  /// A child serves from now on.
  void on_serving(Generation gen);
  /// No reload follows for the changes that nothing has read yet: they were made by the reloads.
  void forget_unread();
  /// No reload follows for any change so far. Each of them still counts.
  void leave() { read_ = newest_; }
  void forget() { changes_.clear(); }

  bool has_any() const { return !changes_.empty(); }
  bool has_unread() const { return has_any() && newest_ > read_; }
  /// Until when requests wait for the newest change. `since`: when the oldest of them has begun to
  /// wait. It does not wait longer because another change follows.
  Instant wait_end(std::optional<Instant> since) const;
  struct Open {
    /// The file that has changed last, and when.
    std::string file;
    WallTime when;
    /// How many files have changed.
    std::size_t count = 0;
    /// A child that is started now would run that change.
    bool is_built = false;
  };
  struct Change {
    /// In the order of the changes, from 1 on.
    std::uint64_t number = 0;
    WallTime when;
    /// No start of ours reads it.
    bool is_built_elsewhere = false;
    /// At least two children were started after it.
    bool has_two_starts = false;
    /// When a file came that did not exist before. Nothing for other files.
    std::optional<WallTime> came;
    bool is_gone = false;
  };
  /// The changes that a child does not run. `runs(file, change)`: what else shows that it runs one.
  /// Nothing if it runs all of them.
  template <class Runs>
  std::optional<Open> open(Runs runs) const {
    std::optional<Open> open;
    std::uint64_t newest = 0;
    std::size_t count = 0;
    for (const auto& [file, change] : changes_) {
      if (runs(file, change)) continue;
      ++count;
      if (change.number < newest) continue;
      newest = change.number;
      open = Open{file, change.when, 0, !change.is_built_elsewhere && change.number <= runnable_};
    }
    if (open) open->count = count;
    return open;
  }

 private:
  bool is_source_built_elsewhere(std::string_view file, bool is_gone) const;
  void erase_up_to(std::uint64_t last);

  const Options options_;
  std::map<std::string, Change, std::less<>> changes_;
  std::uint64_t newest_ = 0;
  std::optional<Instant> seen_at_;
  Instant waits_until_;
  /// The newest change that a build or a start has read, that the last build has read, that a child
  /// which is started now would run, and that the child which was started last runs.
  std::uint64_t read_ = 0;
  std::uint64_t built_ = 0;
  std::uint64_t runnable_ = 0;
  std::uint64_t started_ = 0;
  Generation started_gen_ = kNoGeneration;
};

}  // namespace sitter
