#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sitter/bridge.hpp"
#include "sitter/time.hpp"
#include "support/simulation_controls.hpp"
#include "support/simulation_promises_lives.hpp"
#include "support/simulation_promises_requests.hpp"
#include "support/simulation_questions.hpp"
#include "support/simulation_said.hpp"
#include "support/simulation_streams.hpp"

namespace sitter::sim {

/// Checks what goes into the bridge and what comes out of it, without any knowledge of its inside.
/// These promises hold whatever happens: each request gets one answer, what passes is unchanged and
/// in order, nothing is sent twice, one child serves at a time, nothing grows without bounds,
/// everything is released, and nothing waits for ever. Which reload or restart follows on what, and
/// what the bridge says of it, is told by the stories in tests/core. Throws `Broken`.
class Promises {
 public:
  Promises(const BridgeConfig& config, const Said& said, const Scene& scene);

  // What happens. The world calls these functions just before the bridge is told.
  void set_now(Now now) { now_ = now.steady; }
  void on_client_line(const ClientSaid& said);
  void on_client_closed() { closed_at_ = closed_at_.value_or(now_); }
  void on_stop() { stopped_at_ = stopped_at_.value_or(now_); }
  void on_child_line(Generation gen, const std::vector<int>& numbers);
  void on_error_line(Generation gen, const std::string& text) {
    if (!lives_.is_over(gen)) controls_.on_error_line(text);
  }
  void on_control_line(const ControlAsked& asked);
  void on_saved(const fact::FilesChanged& fact);
  /// What happens to children and builds, and to control connections.
  Lives& lives() { return lives_; }
  Controls& controls() { return controls_; }

  // What the bridge has ordered.
  std::vector<Heard> on_send_to_client(const std::string& line);
  void on_send_to_child(Generation gen, const std::string& line);
  void on_start(Generation gen);
  void on_inspect(Generation gen);
  void on_release(Generation gen);
  void on_renumber_child(Generation from, Generation gen);
  void on_exit();

  /// Called after one fact or timeout and everything that followed from it.
  void on_settled(const Bridge& bridge);
  /// Called after a timeout and everything that followed from it.
  void on_timeout_handled(std::optional<Instant> next) const;

  bool has_exited() const { return has_exited_; }

 private:
  /// A gap after progress is 1 ms. Several gaps may follow each other, and a timer may be late.
  static constexpr Milliseconds kGapsMax{100};
  static constexpr std::string_view kToolsChanged = "notifications/tools/list_changed";

  /// The client sends requests of both eras. Fewer promises hold in such a session.
  bool is_mixed() const { return scene_.client == Scene::Client::mixed; }
  bool is_ending() const { return closed_at_ || stopped_at_; }

  // simulation_promises_said.cpp: what the client and the children say
  void on_said(const ClientSaid& said, int batch);
  void on_request(const ClientSaid& said, int batch);
  void on_cancellation(const ClientSaid& said);
  void on_answer_read(Generation gen, const ChildSaid& said);
  void lose_requests(Generation gen);

  // simulation_promises_heard.cpp: what the client gets from the children
  Heard heard(const std::string& line);
  void check_order(const ChildSaid& said);
  Heard passed(const std::string& line, const ChildSaid& said);
  Heard passed_answer(const std::string& line, const ChildSaid& said);
  bool must_be_called_old(const Request& request, const ChildSaid& said);
  Heard passed_to_any(const std::string& line, const ChildSaid& said, const Request& request);
  Heard passed_end(const std::string& line, const ChildSaid& said);
  Heard answered(Request& request);
  Heard stream_ended(Streams::Stream& stream);
  Heard stream_ended(Streams::Stream* stream, const std::string& line, const ChildSaid& said);

  // simulation_promises_own.cpp: what the bridge itself tells the client
  Heard own(const std::string& line);
  Heard own_notification(const std::string& line, const nlohmann::json& message);
  void check_own_answer(const Request& request, const nlohmann::json& message);

  // simulation_promises_asked.cpp: what children get
  void check_passed_to_child(Life& life, Generation gen, const ClientSaid& said);
  void check_own_to_child(Life& life, Generation gen, const std::string& line,
                          const nlohmann::json& message);
  void take_over(Generation gen);
  void request_sent(Generation gen, Request& request);

  // simulation_promises.cpp: nothing waits for ever, and the end
  bool is_in_flight(const Request& request) const;
  std::optional<Milliseconds> standstill_max() const;
  bool is_late(const Request& request) const;
  void check_requests() const;
  void check_owed(const Bridge& bridge) const;

  const BridgeConfig& config_;
  const Said& said_;
  const Scene& scene_;
  Instant now_;
  Requests requests_;
  Lives lives_;
  Streams streams_;
  Questions questions_;
  Controls controls_;

  int initialize_count_ = 0;
  /// The client has said `initialized` since its last opening; at some time it has sent a request
  /// that counts as it.
  bool says_initialized_ = false, asks_uninitialized_ = false;
  /// The place of each message of a child in the order in which messages were read, by number.
  std::map<int, int> read_order_;
  /// The numbers of the messages of children that the client has got.
  std::set<int> passed_;
  /// The mark of the line that must reach this child in this step.
  std::pair<int, Generation> must_reach_;
  std::optional<Instant> closed_at_, stopped_at_;
  /// When a person has saved a file, unless the server was killed since.
  std::optional<Instant> saved_at_;
  int saves_ = 0;
  bool has_exited_ = false;
};

}  // namespace sitter::sim
