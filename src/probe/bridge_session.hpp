#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/bridge_process.hpp"

namespace sitter {

/// A session with a bridge that runs in a process of its own, in which this program is the client.
/// The bridge is the same program as this one. It speaks line by line, and everything blocks.
///
/// The bridge ends when the session does: its destructor closes the bridge's stdin and waits, and
/// the system kills the bridge if this program is killed.
class BridgeSession {
 public:
  using Json = nlohmann::ordered_json;

  using Start = BridgeProcess::Start;

  /// Throws std::runtime_error if the bridge cannot be started.
  explicit BridgeSession(const Start& start);
  BridgeSession(const BridgeSession&) = delete;
  BridgeSession& operator=(const BridgeSession&) = delete;
  ~BridgeSession();

  /// Gets each message of the bridge that is no answer, and may ask in turn. A request of the
  /// server is answered with -32601 before.
  std::function<void(const Json&)> on_message;

  /// Sends the request and returns its number.
  int request(std::string_view method, Json params);
  /// The number of the request that was sent last.
  int last_request() const { return last_id_; }
  /// The answer to a request, with `result` or `error`. Nothing if it does not come in time, or if
  /// the bridge has ended; it may then be waited for again. If a line comes that `parsed_json`
  /// does not take, an error says so.
  std::optional<Json> answer(int request, std::chrono::milliseconds wait);
  /// Both in one.
  std::optional<Json> ask(std::string_view method, Json params, std::chrono::milliseconds wait);
  /// Sends a notification.
  void tell(std::string_view method, Json params);
  /// Takes what the bridge sends until the time is over, or until `is_enough` says so after a
  /// message.
  void listen(std::chrono::milliseconds wait, const std::function<bool()>& is_enough = {});

  /// What the bridge has written to stderr: its log, and the stderr of the server.
  const std::string& error_text() const { return texts_.error; }

  /// -1 once it has ended.
  long pid() const { return exit_code_ ? -1 : bridge_.pid(); }

  /// Closes the stdin of the bridge and waits for its end. Returns its exit code, or 128 + N for
  /// signal N.
  int end();

 private:
  using Clock = std::chrono::steady_clock;

  void write(const Json& message);
  /// Moves bytes until a line is there. False at the deadline, and when the bridge has ended.
  bool wait_for_line(Clock::time_point deadline);
  std::optional<Json> next_message(Clock::time_point deadline);
  void take(const Json& message);

  BridgeProcess bridge_;
  BridgeProcess::Texts texts_;
  std::optional<int> exit_code_;
  int last_id_ = 0;
  /// A line has come that this program cannot read, as one with a lone surrogate.
  bool has_unreadable_ = false;
  /// The answers that have come and that `answer` has not taken yet, by the id of the request.
  std::map<int, std::unique_ptr<Json>> answers_;
};

}  // namespace sitter
