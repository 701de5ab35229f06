#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "soak/findings.hpp"
#include "soak/ledger.hpp"
#include "support/program.hpp"
#include "support/simulation_random.hpp"

namespace sitter::soak {

/// A client that has many requests open at once and accepts answers in any order. It lists the
/// tools again when it is told that they have changed, and answers the requests of the server.
class Client {
 public:
  Client(const testing::Program::Start& bridge, Ledger& ledger, Findings& findings);

  testing::Program& program() { return program_; }

  /// Sends `initialize`, waits for its answer, and says that it is initialized.
  void open();
  long request(const std::string& method, const Json& params, Ledger::Request expected = {});
  long call(const std::string& tool, const Json& arguments = Json::object(),
            const std::string& expected = {}, int progress_steps = 0);
  void cancel(long id);

  /// Makes one request of any kind. A few of these requests end the server.
  void ask_anything(sim::Random& random);
  /// Cancels the requests that were made only to be cancelled. Some of them would never end by
  /// themselves.
  void cancel_doomed();

  /// Closes the bridge's stdin.
  void end();

  /// Takes all lines that have come. Waits at most this long for the first byte.
  void hear(std::chrono::milliseconds wait);
  /// Does the same with lines that were read already.
  void hear(const std::vector<std::string>& lines);

 private:
  void send(const Json& message);
  void on_message(const Json& message);
  void ask_usual(sim::Random& random);
  void ask_costly(sim::Random& random);
  void ask_other(sim::Random& random);
  void ask_and_regret(sim::Random& random);
  void ask_bridge(sim::Random& random);
  void end_server(sim::Random& random);

  testing::Program program_;
  Ledger& ledger_;
  Findings& findings_;
  bool is_open_ = false;
  bool has_ended_ = false;
  long called_ = 0;
  std::vector<long> doomed_;
};

}  // namespace sitter::soak
