#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/child/child_end.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many generations sitter_status lists: enough to see whether the server always ends in the
/// same way, and little to read.
inline constexpr std::size_t kHistoryMax = 10;

}  // namespace limits

class ChildLifecycle;

/// How earlier children lived and ended, and which stdout lines of the last child were not
/// messages. Most of this is only shown; `last_served` and `last_end` also decide about starts and
/// about stale cursors.
class History {
 public:
  /// One generation. `lifetime` is the age of a child that still lives.
  struct Life {
    Generation gen = kNoGeneration;
    std::int64_t pid = 0;
    WallTime started;
    Milliseconds lifetime{};
    /// Empty for a child that still lives.
    std::optional<ChildEnd> end;

    /// A child that still lives.
    static Life of(const ChildLifecycle& child, Milliseconds age);
    /// A child that is over.
    static Life over(const ChildLifecycle& child, ChildEnd end);
  };

  struct Failure {
    ChildEnd end;
    std::string stderr_tail;
    WallTime at;
    Generation gen = kNoGeneration;
    /// The functions that were running at a crash, once a debugger has read them.
    std::string stack = {};
  };

  struct Noise {
    Generation gen = kNoGeneration;
    std::int64_t line_count = 0;
    std::string first_line;
    /// The child sends back what it is sent.
    bool is_echo = false;
    /// The first line that shows that a message takes several: a header, or the beginning of JSON.
    std::string split_line = {};
    bool has_headers = false;
  };

  /// A child is over. `was_candidate`: the child was to take the place of another child, which
  /// still serves.
  void on_over(Life life, std::string stderr_tail, bool was_candidate, WallTime now);
  /// The command of the last child is missing, and the build that was to bring it has ended without
  /// it. `why` says how.
  void on_unbuilt(std::string why, WallTime now);
  /// A child that had requests of the client has ended, or another child serves in its place.
  /// `last_words` is the end of its stderr, if no answer has told the model about it.
  void on_served_over(Generation gen, ChildEnd end, std::string last_words);
  /// The process of this child, whose session was lost, has ended too, which says more.
  void on_left_process_over(Generation gen, const ExitStatus& status, std::string stderr_tail,
                            WallTime now);
  /// Returns false if the crash does not matter any more.
  void on_stack(const fact::StackRead& fact);
  /// A child has shown that it works.
  void on_proved() { last_failure_.reset(); }
  /// A child has come to serve, `duration` after its start.
  void on_startup(Milliseconds duration) { last_startup_ = duration; }
  /// Returns whether this is the first such line of the child. A child that retires beside a noisy
  /// successor no longer counts.
  bool add_noise(Generation gen, std::string_view text, bool is_echo = false);

  /// The last generations, the oldest first.
  const std::deque<Life>& lives() const { return lives_; }
  /// The end of the newest child that is over and was not a candidate.
  const std::optional<ChildEnd>& last_end() const { return last_end_; }
  /// The end of the last child that served.
  const std::optional<ChildEnd>& last_served() const { return last_served_; }
  /// The end that a notice tells: that of the last child that served, or of a later child that was
  /// killed on purpose before it served. Otherwise an earlier crash would be taken for that kill.
  const std::optional<ChildEnd>& last_told() const { return last_told_; }
  /// The process of that child; 0 if it is not known.
  std::int64_t last_told_pid() const { return pid_of(last_told_gen_); }
  /// What that child wrote last to stderr; empty if the model knows it, or if the end was no
  /// failure.
  const std::string& last_words() const { return last_words_; }
  std::optional<WallTime> last_end_at() const { return last_end_at_; }
  /// The end of the last child that could not be started, crashed, or had to be taken down.
  /// Empty again as soon as another child has shown that it works.
  const std::optional<Failure>& last_failure() const { return last_failure_; }
  std::optional<Milliseconds> last_startup() const { return last_startup_; }
  const std::optional<Noise>& noise() const { return noise_; }

 private:
  std::int64_t pid_of(Generation gen) const;
  void tell(Generation gen, const ChildEnd& end, std::string last_words);

  std::deque<Life> lives_;
  std::optional<ChildEnd> last_end_;
  std::optional<ChildEnd> last_served_;
  std::optional<ChildEnd> last_told_;
  std::string last_words_;
  Generation last_end_gen_ = kNoGeneration;
  Generation last_told_gen_ = kNoGeneration;
  std::optional<WallTime> last_end_at_;
  std::optional<Failure> last_failure_;
  std::optional<Milliseconds> last_startup_;
  std::optional<Noise> noise_;
};

}  // namespace sitter
