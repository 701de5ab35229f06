#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/rebuild/build.hpp"
#include "core/rebuild/watch.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What a status shows of builds and of the watched files.
struct RebuildStatus {
  struct BuildFacts {
    std::string command;
    bool is_running = false;
    /// The last build that has ended.
    std::optional<BuildResult> last;
  };

  struct WatchFacts {
    std::vector<std::string> patterns;
    bool watches_binary = false;
    Milliseconds debounce{};
    std::size_t folder_count = 0;
    /// Empty if every change is seen.
    std::string problem;
    /// The patterns that no file matches.
    std::vector<std::string> unmatched;
    std::optional<Watch::Trigger> last;
    /// The files that reloads write themselves.
    std::vector<std::string> own;
  };

  /// The rebuild that is on its way, as progress_clause returns it; empty if there is none.
  std::string rebuild;
  /// Set if there is a build command.
  std::optional<BuildFacts> build;
  /// Set if something is watched.
  std::optional<WatchFacts> watch;
};

}  // namespace sitter
