#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/last_words.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/tool_server/description.hpp"
#include "core/tool_server/kept_output.hpp"
#include "sitter/cli.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// How many lines of the stderr of a failed run its result shows. The rest is in the ring.
inline constexpr std::size_t kRunErrorLinesMax = 20;

/// A request that a run answers.
struct RunCaller {
  /// Raw; empty for a run that reads the description.
  std::string id = {};
  bool is_stateless = false;
  /// Raw; empty if the client does not want progress.
  std::string progress_token = {};
};

/// One command of the tool, from the call that asks for it to the moment when nothing can come from
/// its process any more.
struct Run {
  Run(Generation number, Generation of_child, Now now, const EndWords& words)
      : child(of_child), life(number, now, words) {
    start.gen = number;
  }

  bool is_description() const { return caller.id.empty(); }

  /// The child whose description the run follows, or brings.
  Generation child;
  ChildLifecycle life;
  order::StartRun start;
  /// How much memory its texts take.
  std::size_t start_bytes = 0;
  RunCaller caller = {};
  /// Keeps `tool` alive after the description was replaced.
  std::shared_ptr<const Description> description = nullptr;
  const CliTool* tool = nullptr;
  Milliseconds timeout{};

  /// The run waits for its turn.
  bool is_waiting = true;
  /// The client has cancelled the call, or the child is gone.
  bool is_unwanted = false;
  /// When the run is ended; set when it starts.
  std::optional<Instant> limit = {};
  /// See `RunOutcome::stopped`.
  std::string stopped = {};
  KeptOutput output = {};
  LastWords error_lines{kRunErrorLinesMax};
  std::int64_t progress_count = 0;
  Instant next_progress{};
};

}  // namespace sitter
