#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/build/build_excerpt.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/child/stderr_ring.hpp"
#include "sitter/exit_status.hpp"
#include "sitter/limits.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What a run of the build command came to.
struct BuildResult {
  enum class Outcome {
    succeeded,
    failed,       ///< it exited with another code than 0, or by a signal
    timed_out,    ///< it was stopped at its limit
    stopped,      ///< nobody waits for it any more
    not_started,  ///< `why` says why
  };

  Outcome outcome = Outcome::succeeded;
  ExitStatus status{};
  Milliseconds duration{};
  WallTime ended{};
  std::string why = {};
};

/// "succeeded", "failed", "timed out", "stopped", "not started".
std::string_view outcome_words(BuildResult::Outcome outcome);

/// A clause with the build as its subject, without a full stop: "the build failed (exit 2) after
/// 3.2s".
std::string build_clause(const BuildResult& result);

/// One run of the build command: a process with its own unit, like a child, of which nothing but
/// the exit and the words count.
class Build {
 public:
  Build(Generation gen, Now now)
      : life(gen, now), output(limits::kBuildLogLinesMax, "build output") {}

  /// Why it is taken down. The first reason stays, and so does the result of one that has ended and
  /// of which only the output is waited for.
  void stop_for(BuildResult::Outcome outcome) {
    if (!stopped_ && life.state() != ChildLifecycle::State::draining) stopped_ = outcome;
  }

  bool is_stopped() const { return stopped_.has_value(); }
  bool is_running() const { return !result_; }

  /// It is over.
  void finish(Now now);
  /// Once it is over.
  const std::optional<BuildResult>& result() const { return result_; }

  Milliseconds age(Now now) const;

  /// A line of its stdout or stderr, of which so many bytes were dropped at its end.
  void add(std::string_view line, std::size_t bytes_cut);
  std::int64_t line_count() const { return line_count_; }
  /// How many of its first lines are not kept.
  std::int64_t lost_count() const;
  /// Those that are kept: the last ones, and the first errors before them. As long as nothing is
  /// added.
  std::vector<BuildLine> lines() const;

  ChildLifecycle life;
  StderrRing output;

 private:
  void keep_error();

  std::int64_t line_count_ = 0;
  struct Kept {
    std::int64_t number = 0;
    std::string text;
  };
  /// A compiler's first error explains the others, and the output may be endless.
  std::vector<Kept> first_errors_;
  /// Up to which line they are kept.
  std::int64_t keeps_until_ = 0;
  std::optional<BuildResult::Outcome> stopped_;
  std::optional<BuildResult> result_;
};

}  // namespace sitter
