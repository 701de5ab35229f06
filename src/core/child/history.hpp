#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/child/child_end.hpp"
#include "core/child/start_policy.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// How the children of the past have lived and ended, and what the last one wrote to stdout that is
/// no message. Only to be shown and told.
class History {
 public:
  /// One generation. `lifetime` of a living one is its age; it has no `end`.
  struct Life {
    Generation gen = kNoGeneration;
    std::int64_t pid = 0;
    WallTime started;
    Milliseconds lifetime{};
    std::optional<ChildEnd> end;
  };

  struct Noise {
    Generation gen = kNoGeneration;
    std::int64_t line_count = 0;
    std::string first_line;
  };

  /// A child is over. `was_candidate`: another one serves, whose place it was to take.
  void on_over(Life life, std::string stderr_tail, bool was_candidate, WallTime now);
  /// A child has ended, or another one serves in its place, that the client had requests at.
  void on_served_over(ChildEnd end) { last_served_ = std::move(end); }
  /// A child has come to serve after so long.
  void on_startup(Milliseconds duration) { last_startup_ = duration; }
  /// Returns whether it is the first of this child.
  bool add_noise(Generation gen, std::string_view text);

  /// The last generations, the oldest first.
  const std::deque<Life>& lives() const { return lives_; }
  /// Of the newest child that is over and was no candidate.
  const std::optional<ChildEnd>& last_end() const { return last_end_; }
  /// Of the last child that served.
  const std::optional<ChildEnd>& last_served() const { return last_served_; }
  std::optional<WallTime> last_end_at() const { return last_end_at_; }
  /// The last child that could not be started, crashed, or had to be taken down.
  const std::optional<StartPolicy::Failure>& last_failure() const { return last_failure_; }
  std::optional<Milliseconds> last_startup() const { return last_startup_; }
  const std::optional<Noise>& noise() const { return noise_; }

 private:
  std::deque<Life> lives_;
  std::optional<ChildEnd> last_end_;
  std::optional<ChildEnd> last_served_;
  Generation last_end_gen_ = kNoGeneration;
  std::optional<WallTime> last_end_at_;
  std::optional<StartPolicy::Failure> last_failure_;
  std::optional<Milliseconds> last_startup_;
  std::optional<Noise> noise_;
};

}  // namespace sitter
