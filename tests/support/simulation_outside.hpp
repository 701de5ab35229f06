#pragma once

#include <string>
#include <vector>

#include "sitter/control_id.hpp"
#include "sitter/fact.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Who has to do with the bridge besides its client: somebody who saves files and sends signals,
/// and who asks over connections of his own.
class Outside {
 public:
  enum class Act {
    asks_for_reload,
    asks_for_status,
    saves,
    watch_changes,
    asks,  ///< over a connection
    leaves,
  };

  /// Its chance is its own, so that a scene without it stays as it is.
  Outside(Random& random, const Scene& scene) : random_(random), scene_(scene) {}

  /// Only in a scene that has an outside.
  Act next();

  fact::FilesChanged saved();
  /// By a build, or by a server at its start.
  fact::FilesChanged written(bool is_by_build);
  fact::WatchChanged watched();
  ControlAsked asks();
  /// The connection that is closed; 0 if there is none.
  ControlId leaves();

 private:
  void reload(ControlAsked& asked);
  void kill(ControlAsked& asked);
  void show_stderr(ControlAsked& asked);
  std::string broken();

  Random& random_;
  const Scene& scene_;
  ControlId last_connection_ = 0;
  std::vector<ControlId> connections_;
  int names_ = 0;
};

}  // namespace sitter::sim
