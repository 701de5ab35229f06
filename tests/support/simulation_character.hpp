#pragma once

#include <string>

#include "sitter/exit_status.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// The behaviour of a server. A number is the weight of an action among the others, or the chance
/// in percent that the child does something when it can.
struct Character {
  enum class Opening {
    answers,
    never,
    refuses,
    refuses_as_modern,
    has_no_version,
    is_unreadable,
    has_a_strange_version,
    exits,
  };

  enum class Era { legacy, modern, dual };
  /// What a child that needs an opening does with a request that comes without one.
  enum class Unopened { refuses, serves, ignores, exits };
  enum class Acknowledges { fully, partly, never, does_not_know_streams, refuses };
  /// What a server does that was started anew behind its process. It may refuse every request until
  /// it is opened. Its watcher may announce the restart.
  enum class StartedAnew { refuses, refuses_after_announcement, serves_after_announcement };

  Era era = Era::legacy;
  Opening opening = Opening::answers;
  Unopened at_probe = Unopened::refuses, at_request = Unopened::refuses;
  std::string version;
  bool has_tools = true, has_prompts = false, has_resources = false, has_logging = false;
  int tools = 0;  ///< which of the tools it has
  bool has_outer_tools = false;
  int page_count = 1;
  bool pages_in_a_circle = false;

  bool keeps_order = true;
  int answers = 60;
  int answers_twice = 0;
  int answers_unreadably = 0;
  int refuses = 0;
  int shows_progress = 0, shows_late_progress = 0;
  int has_structure = 0;
  bool respells_ids = false;
  /// How the child rounds big ids: to the text of a double, with or without an exponent.
  enum class Rounds { never, plainly, with_exponent };
  Rounds rounds_ids = Rounds::never;
  int heeds_cancellations = 50;

  int asks = 0;
  int notifies = 5;
  int changes_lists = 0;
  int writes_errors = 5;
  int writes_noise = 0;
  int glues_lines = 0;
  int exits = 0;
  int closes_output = 0;
  int floods = 0;

  Acknowledges acknowledges = Acknowledges::fully;
  int tells_changes = 0;
  int misdirects_changes = 0;
  int ends_streams = 0;
  /// The chance of a result that asks for input or names a task, and is therefore not complete.
  int is_incomplete = 0;

  /// The server is started anew behind its process.
  int starts_anew = 0;
  StartedAnew started_anew = StartedAnew::refuses;
  /// The error of a server that was not opened.
  int unopened_code = -32602;
  std::string_view unopened_words = "Invalid request parameters";
  /// The chance that the error of a request that was carried out reads like that of an unopened
  /// server.
  int misleads = 0;

  bool is_remote_runner = false;
  bool ignores_closed_input = false;
  bool ignores_terminate = false;
  bool ignores_kill = false;     ///< it hangs in the kernel
  bool refuses_signals = false;  ///< it belongs to another user
  int grandchildren = 0;
  bool grandchildren_hold_pipes = false;
  bool grandchildren_ignore_terminate = false;
  /// The child stops reading after this many lines.
  int deaf_after = 1'000'000;
};

/// A random character for a child of this scene. `predecessor` may be null. The new character is
/// often like the one before.
Character random_character(Random& random, const Scene& scene, const Character* predecessor);

/// How the server of this child is started anew behind its process. A server of the stateless
/// revision needs no opening, so nobody outside could tell.
void add_own_restarts(Random& random, Character& character);

ExitStatus random_exit(Random& random);

}  // namespace sitter::sim
