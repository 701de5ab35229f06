#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/kill_report.hpp"
#include "sitter/end_words.hpp"
#include "sitter/fact.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/request_handle.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long another mcp-sitter may take until it begins to end its server, on a busy machine.
inline constexpr Milliseconds kAskedSitterWait{500};

}  // namespace limits

/// A sitter_kill from its first call to its report: what it ends besides the children, and which
/// calls wait for it. This class does not take the children down; its caller does.
///
///     idle --> ending_children --> sweeping --> sweeping_last --> reporting --> idle
///                      |              \------------------------->
///                      \--(scope child)------------------------->
///
/// A call with a wider scope leads from each later state back to ending_children.
class Killer {
 public:
  /// `grace`: the time from the SIGTERM of a sweep to its SIGKILL.
  explicit Killer(Milliseconds grace, EndWords words = {})
      : grace_(grace), words_(std::move(words)) {}

  struct Caller {
    RequestHandle request;
    /// Whether the call waits for the next server.
    bool restarts = false;

    friend bool operator==(const Caller&, const Caller&) = default;
  };
  /// Begins a kill for a call. If a kill is already on its way, the call joins it, and a wider
  /// scope leads to another sweep.
  void begin(Caller caller, KillScope scope);
  /// No child is left. Returns whether the report is due.
  bool on_children_over(Orders& out);
  /// Handles the result of a sweep. Returns whether the report is due.
  bool on_swept(const fact::ImageSwept& fact, Now now);
  void on_timeout(Now now, Orders& out);
  std::optional<Instant> deadline() const { return deadline_; }

  /// For the report: `add` takes what was ended with a child, `add_note` what could not be ended.
  void add(std::vector<KillReport::Killed> killed);
  void add_note(std::string note);
  /// A child is a daemon that was not started here, so only its session ends.
  void on_foreign() { has_foreign_ = is_killing(); }
  bool has_foreign() const { return has_foreign_; }

  struct Result {
    KillReport report;
    std::vector<Caller> callers;
  };
  /// Ends a kill whose report is due. Empty if no report is due.
  std::optional<Result> finish(std::optional<std::string> path);

  bool is_killing() const { return state_ != State::idle; }
  /// The number of kills that have ended anything.
  std::int64_t count() const { return count_; }

  /// Nobody has wanted a server since the last kill. Somebody may be about to build, so no server
  /// is started unasked.
  bool is_wanted_down() const { return is_wanted_down_; }
  void on_wanted() { is_wanted_down_ = false; }

 private:
  enum class State { idle, ending_children, sweeping, sweeping_last, reporting };

  const Milliseconds grace_;
  const EndWords words_;
  State state_ = State::idle;
  KillScope scope_ = KillScope::automatic;
  std::vector<Caller> callers_;
  KillReport report_;
  std::optional<Instant> deadline_;
  bool is_wanted_down_ = false;
  bool has_foreign_ = false;
  std::int64_t count_ = 0;
};

}  // namespace sitter
