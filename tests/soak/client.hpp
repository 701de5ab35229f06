#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "soak/findings.hpp"
#include "soak/ledger.hpp"
#include "support/program.hpp"
#include "support/simulation_random.hpp"

namespace sitter::soak {

/// A client that asks many things at once and takes what comes. It lists again when it is told that
/// a list has changed, and answers what the server asks.
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

  /// One request of any kind, seldom one that ends the server.
  void ask_anything(sim::Random& random);
  /// Cancels what was asked only for that, some of which never ends by itself.
  void cancel_doomed();

  /// Closes the bridge's stdin.
  void end();

  /// Takes all that is there; waits at most so long for the first byte.
  void hear(std::chrono::milliseconds wait);
  /// The same with lines that were read already.
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
