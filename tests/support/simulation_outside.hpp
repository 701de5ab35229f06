#pragma once

#include <string>
#include <vector>

#include "sitter/control_id.hpp"
#include "sitter/fact.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Everybody who acts on the bridge besides its client: a user who saves files and sends signals,
/// and programs that send control requests over connections of their own.
class Outside {
 public:
  enum class Act {
    asks_for_reload,
    asks_for_status,
    saves,
    watch_changes,
    asks,  ///< sends a control request over a connection
    leaves,
  };

  /// `random` is not the random source of the client and the children. So a scene without an
  /// outside does not depend on it.
  Outside(Random& random, const Scene& scene) : random_(random), scene_(scene) {}

  /// To be called only in a scene that has an outside.
  Act next();

  fact::FilesChanged saved();
  /// A file that a build has written, or a server at its start.
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
