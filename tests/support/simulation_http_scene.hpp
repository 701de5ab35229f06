#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sitter/time.hpp"

namespace sitter::sim {

/// The revision with sessions, and the one without.
inline constexpr std::string_view kVersion = "2025-11-25";
inline constexpr std::string_view kStatelessVersion = "2026-07-28";
/// How long the results of a daemon of the stateless revision are valid.
inline constexpr int kTtl = 60000;
/// The ids of the bridge's own requests are larger than this.
inline constexpr std::int64_t kMarkMax = 1'000'000'000;

/// What a seed has chosen for a daemon that is reached over HTTP, and for the way to it.
struct HttpScene {
  enum class Daemon {
    sessions,     ///< opens any number of sessions
    one_session,  ///< opens one session in its life
    no_sessions,  ///< speaks an earlier revision and keeps no session
    stateless,    ///< speaks 2026-07-28
  };

  Daemon daemon = Daemon::sessions;
  bool is_stateless() const { return daemon == Daemon::stateless; }
  bool has_sessions() const { return daemon == Daemon::sessions || daemon == Daemon::one_session; }

  /// Whether the system shows which process listens.
  bool shows_listener = true;
  /// A proxy stands before the daemon. It always takes connections.
  bool has_proxy = false;
  /// The daemon is started here if nothing listens.
  bool is_started_here = false;
  bool ends_with_bridge = false;
  bool keeps_session = false;
  bool has_builds = false;
  /// Whether requests are redirected within the origin now and then.
  bool has_redirects = false;
  /// The chance, in a thousand, that a step on the way goes wrong.
  int faults = 0;
  /// Whether the daemon can give the rest of a broken stream.
  bool has_event_ids = true;
  /// How long it asks to wait before that.
  std::optional<Milliseconds> retry;
  /// Whether it gives a stream for GET.
  bool gives_stream = true;
};

/// What the client and the daemon have said, so that each line can be found again on the other
/// side.
struct HttpSaid {
  /// A request of the client. Its id is its number.
  struct Request {
    std::string method;
    /// Made once at most, whatever happens.
    bool is_call = false;
    bool is_builtin = false;
    /// The answer that a kill has given may wait until the client has listed the tools.
    bool was_meant_by_kill = false;
    /// From then on, the same holds for the answer that it was not delivered.
    Instant patient_until{};
    bool is_cancelled = false;
    bool is_answered = false;
    /// The client was told that the request had no effect.
    bool is_called_undone = false;
    /// How often it was sent over HTTP, and how often the daemon has carried it out.
    int sent = 0;
    /// How often it was refused because its session was lost.
    int refusals = 0;
    int executions = 0;
    /// What the daemon has answered, as results or errors.
    std::set<std::string> answers;
  };
  /// A question of the daemon. The client's answer names its number.
  struct Question {
    std::string id;
    std::string session;
    int life = 0;
    int answers = 0;
  };

  std::map<int, Request> requests;
  std::map<int, Question> questions;
  /// The client's notifications, and how often the daemon has taken each of them.
  std::map<int, int> notifications;
  int last_number = 0;
  Instant now{};
  /// How long a request waits for the daemon.
  Milliseconds patience{};
};

}  // namespace sitter::sim
