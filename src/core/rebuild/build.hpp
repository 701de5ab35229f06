#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/child/child_lifecycle.hpp"
#include "core/child/stderr_ring.hpp"
#include "core/rebuild/build_errors.hpp"
#include "core/rebuild/build_excerpt.hpp"
#include "sitter/exit_status.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many lines of a build's output are kept. Lines need a bound of their own, since empty lines
/// have no bytes. The bytes have the same bound as in any ring.
inline constexpr std::size_t kBuildLogLinesMax = 20'000;

}  // namespace limits

/// The result of a run of the build command.
struct BuildResult {
  enum class Outcome {
    succeeded,
    failed,       ///< the command exited with a code other than 0, or a signal ended it
    timed_out,    ///< the build was stopped at its time limit
    stopped,      ///< the build was stopped because nobody waits for it any more
    not_started,  ///< the command could not be started, and `why` says why
  };

  Outcome outcome = Outcome::succeeded;
  ExitStatus status{};
  Milliseconds duration{};
  WallTime ended{};
  std::string why = {};
};

/// Whether the build has brought no program. A build that was stopped says nothing about the
/// source.
bool has_failed(const BuildResult& result);

/// "succeeded", "failed", "timed out", "stopped", "not started".
std::string_view outcome_words(BuildResult::Outcome outcome);

/// A clause with the build as its subject, without a full stop: "the build failed (exit 2) after
/// 3.2s".
std::string build_clause(const BuildResult& result);

/// One run of the build command. It is a process with its own unit, like a child, but only its exit
/// and its output matter.
class Build {
 public:
  Build(Generation gen, Now now, const EndWords& words = kSignalWords)
      : life(gen, now, words), output_(limits::kBuildLogLinesMax, "build output") {}

  /// Records why the build is taken down. The first reason stays. A build that has exited while its
  /// output is still awaited keeps its own result.
  void stop_for(BuildResult::Outcome outcome) {
    if (!stopped_ && life.state() != ChildLifecycle::State::draining) stopped_ = outcome;
  }

  bool is_stopped() const { return stopped_.has_value(); }
  bool is_running() const { return !result_; }

  /// Sets the result. The build must be over.
  void finish(Now now);
  /// Empty until `finish` was called.
  const std::optional<BuildResult>& result() const { return result_; }

  Milliseconds age(Now now) const;

  /// Adds a line of stdout or stderr. `bytes_cut` bytes at its end were dropped.
  void add(std::string_view line, std::size_t bytes_cut);
  /// At most `bytes_max` bytes of the newest line, besides the mark of a cut line.
  std::string last_line(std::size_t bytes_max) const {
    return output_.tail(life.gen(), 1, bytes_max);
  }
  std::int64_t line_count() const { return line_count_; }
  /// The lines that are kept and match, below a line that says how many lines are not kept.
  StderrRing::Answer log_text(const StderrRing::Query& query) const;
  /// The lines that are kept: the last lines, and the first errors before them. They are valid
  /// until the next `add`.
  std::vector<BuildLine> lines() const;
  /// The part of the output that a model should read, with at most `lines_max` lines of it. The
  /// build must have a result.
  std::string excerpt(std::size_t lines_max = limits::kBuildExcerptLinesMax) const;

  ChildLifecycle life;

 private:
  /// How many of the first lines are no longer in `output_`.
  std::int64_t lost_count() const;
  void keep_error();

  StderrRing output_;
  std::int64_t line_count_ = 0;
  struct Kept {
    std::int64_t number = 0;
    std::string text;
  };
  /// The first error of a compiler explains the others, and long output would drop it from
  /// `output_`.
  std::vector<Kept> first_errors_;
  /// The number of the last line to keep after the latest error.
  std::int64_t keeps_until_ = 0;
  std::optional<BuildResult::Outcome> stopped_;
  std::optional<BuildResult> result_;
};

}  // namespace sitter
