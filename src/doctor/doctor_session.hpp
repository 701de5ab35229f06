#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/doctor_words.hpp"
#include "probe/bridge_session.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The revision that needs no opening.
inline constexpr const char* kStatelessRevision = "2026-07-28";

/// A session with the server that is examined, in one of the two eras of the protocol. Each wait
/// ends at the deadline of the whole examination.
class DoctorSession {
 public:
  using Json = BridgeSession::Json;
  using Clock = std::chrono::steady_clock;
  enum class Era { initialize, stateless };

  struct Start {
    /// How long the server may take; nothing leaves it to the user's options.
    std::optional<Milliseconds> startup_timeout = {};
    /// The whole environment of the server, without the user's --env. Nothing: that of this
    /// program.
    std::optional<std::vector<std::string>> environment = {};
    Clock::time_point deadline = Clock::time_point::max();
  };

  /// Throws std::runtime_error if no bridge can be started.
  DoctorSession(const DoctorWords& words, Era era, const Start& start);
  DoctorSession(const DoctorSession&) = delete;
  DoctorSession& operator=(const DoctorSession&) = delete;
  /// Ends the server. It gets less time for that if it owes an answer.
  ~DoctorSession();

  /// Opens the session with `initialize`, or asks `server/discover`. Returns the answer. Does not
  /// wait for a daemon that cannot be reached.
  std::optional<Json> open(Milliseconds wait);
  std::optional<Json> ask(std::string_view method, Json params, Milliseconds wait);

  /// Cancels the last request.
  void give_up();

  /// The text of a tool of the bridge (`status`); empty if no answer came.
  std::string text_of(std::string_view tool, Json arguments);
  /// The same as JSON, by default without arguments. An empty object if the text is no object.
  Json look(std::string_view tool, Json arguments);
  Json look(std::string_view tool);
  /// The status, when it is clear whether the server has opened.
  Json settled_status();

  /// Takes messages for a moment.
  void rest() { bridge_.listen(kRest); }

 private:
  static constexpr Milliseconds kRest{20};

  Era era_;
  bool is_daemon_elsewhere_;
  Clock::time_point deadline_;
  bool owes_answer_ = false;
  BridgeSession bridge_;
};

}  // namespace sitter
