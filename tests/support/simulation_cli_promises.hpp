#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sitter/cli.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"
#include "support/simulation_cli_run.hpp"
#include "support/simulation_cli_scene.hpp"
#include "support/simulation_said.hpp"
#include "support/simulation_tally.hpp"

namespace sitter::sim {

/// Checks what a command-line tool that is played as a server promises: what its client gets, and
/// what is run for it when. This class knows nothing of the inside of the bridge and of the server.
/// It throws `Broken` at the first broken promise.
class CliPromises {
 public:
  using Runs = std::map<Generation, CliRun>;

  CliPromises(const Scene& scene, const CliScene& tool, const Said& said, const Runs& runs,
              Tally& tally)
      : scene_(scene), tool_(tool), said_(said), runs_(runs), tally_(tally) {}

  void set_now(Instant now) { now_ = now; }

  // What the client says, and what it gets.
  void on_client_line(const ClientSaid& said);
  std::vector<Heard> on_send_to_client(const std::string& line);
  std::size_t owed_count() const;
  std::string owed_words() const;

  // What the child is ordered, and what it tells.
  void on_order(const order::StartChild& order);
  void on_order(const order::SendToChild& order);
  void on_order(const order::CloseChildInput& order) { on_closed(order.gen); }
  void on_order(const order::SignalUnit&) {}
  void on_order(const order::ReleaseChild& order) { on_closed(order.gen); }
  void on_fact(const Fact& fact);

  // What is run.
  void on_start_run(const order::StartRun& order);
  void on_start_failed(Generation run);
  void on_exited(Generation run);
  void on_released(Generation run);
  /// The tool describes itself to this child.
  void on_described(Generation child, CliDescribed described);
  /// The child whose description is being asked for.
  Generation described_child() const { return described_child_; }

  /// These requests have no answer of the child.
  void check_open(Generation child, const std::set<std::string>& raw_ids);
  /// Called after a turn of the shell.
  void check();
  /// Whether the end of the bridge must wait for a run that cannot be killed.
  bool is_held() const;
  /// The bridge has ended.
  void check_end() const;
  /// The client knows the tools as they are.
  void check_listed() const;

 private:
  struct Request {
    const ClientSaid* said = nullptr;
    std::string id;
    bool is_cancelled = false, is_answered = false;
    Generation child = kNoGeneration;
    Instant sent_at{};
    int sent_in = 0;
    /// The step in which the child was told that the call is cancelled; 0 for none.
    int cancelled_in = 0;
    /// The description of the child has the tool, and the arguments fit.
    bool must_run = false;
    bool is_parked = false;
    Generation run = kNoGeneration;
    /// What the child has answered.
    std::optional<nlohmann::json> told;

    bool is_call() const { return said->method == "tools/call"; }
    bool is_fitting() const { return number_behind(said->arguments, "\"x\":") <= kXMax; }
  };
  struct Child {
    bool is_up = false, is_closed = false, is_over = false;
    CliDescribed described;
  };
  struct Begun {
    Instant at{};
    Milliseconds timeout{};
    Generation child = kNoGeneration;
    /// The start has failed, and may be tried again.
    bool has_failed = false;
    std::optional<Instant> exited_at, must_end_at;
  };

  static bool has(std::string_view text, std::string_view part);
  /// The id as everybody reads it, however it is spelled.
  static std::string key_of(const nlohmann::json& id);
  static std::string key_of(const std::string& raw_id);
  static std::vector<std::string> texts_of(const nlohmann::json& result);

  void on_request(const ClientSaid& said);
  Heard heard(const nlohmann::json& message);
  Heard answered(const nlohmann::json& message);
  void check_passed(const Request& request, const nlohmann::json& message);
  void on_closed(Generation gen);
  void on_description_read();
  void on_cancelled(Generation child, const std::string& id);
  void on_told(Generation gen, const nlohmann::json& message);
  void check_told_result(const Request& request, const nlohmann::json& result) const;
  void check_told_run(const CliRun& run, const Begun& begun, const nlohmann::json& result) const;
  void check_unknown(const Request& request) const;
  void must_end(Generation run, Instant at);
  bool waits(const Request& request) const;
  const Child& described_for(const Request& request, int version) const;
  bool is_parked(const Request& request) const;
  std::size_t running_count(bool counts_failed) const;
  const Child* newest() const;
  Request* with_id(const std::string& id);
  void check_run(const CliRun& run, const Begun& begun) const;

  const Scene& scene_;
  const CliScene& tool_;
  const Said& said_;
  const Runs& runs_;
  Tally& tally_;
  Instant now_{};
  int step_ = 1;
  std::map<int, Request> requests_;
  /// The marks of calls in the order in which the child got them.
  std::vector<int> sent_;
  std::map<Generation, Child> children_;
  std::map<Generation, Begun> begun_;
  /// The marks of calls whose runs have ended in this step.
  std::set<int> due_;
  /// In this step a description was read, or could not be read.
  bool has_read_ = false;
  Generation described_child_ = kNoGeneration;
  /// The version of the tools that the client has listed last; 0 for none. Its request has this
  /// mark.
  int listed_ = 0;
  int listed_at_ = 0;
  /// The mark of the first line that the client may have written after it was told of a change.
  int told_at_ = 0;
};

}  // namespace sitter::sim
