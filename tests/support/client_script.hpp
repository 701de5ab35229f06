#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sitter/bridge.hpp"
#include "support/messages.hpp"
#include "support/script.hpp"
#include "support/story_lines.hpp"

namespace sitter {

/// What the server says about itself. A story changes it before a child opens.
struct Server {
  /// The child speaks 2026-07-28 and no other revision.
  bool is_stateless = false;
  std::string protocol_version = "2025-11-25";
  std::string name = "server";
  std::string version = "1.0.0";
  std::string capabilities = R"json({"tools":{"listChanged":true}})json";
  std::string instructions = "";
  std::vector<std::string> tools = {tool("echo")};
  std::vector<std::string> prompts;
  std::vector<std::string> resources;

  std::string opening() const;
  /// A page of a list in the form in which this server answers it.
  std::string page(const std::string& key, const std::vector<std::string>& items) const;
  /// The answer to a request of the bridge itself.
  std::string answer(const Id& id, const std::string& method) const;

  static std::string list(const std::string& key, const std::vector<std::string>& items);
};

/// Tells a story to a bridge with a client. The ids of the bridge's own requests are written as
/// `#1`, `#2`, in the order in which they were made.
///
/// At its end the story closes the client's input. It fails if a request does not have its one
/// answer, if the bridge does not end, or if a line to the client is not a JSON-RPC message.
class ClientScript : public Script {
 protected:
  BridgeConfig config = [] {
    BridgeConfig chosen;
    chosen.command = "server";
    chosen.sitter_version = "9.9.9";
    return chosen;
  }();
  Server server;
  /// True in stories of the revision that has batches.
  bool takes_batches = false;
  /// True in stories in which a refused line has an id.
  bool may_answer_unasked = false;

  Bridge& bridge();

  // Facts from the client.
  void client(const std::string& line);
  void client_closes_input() { tell(fact::ClientClosedInput{}); }
  void signal(int exit_code) { tell(fact::StopSignalled{exit_code}); }

  /// Only the lines to the client from `done()`.
  std::vector<std::string> client_got();
  /// The only line that the client got, parsed.
  nlohmann::json answer();
  /// The text of the only block of the only answer.
  std::string answer_text();

  /// The log lines above the level debug.
  const std::vector<std::string>& logs() const { return logs_; }

  static std::int64_t pid_of(Generation gen) { return 1000 + gen; }

  // What a script uses.

  /// Feeds a fact, and carries out what is ordered then.
  virtual void tell(const Fact& fact) = 0;
  /// Writes an order down if it concerns neither a child nor the files. Returns whether it was one.
  bool write_down_own(const Order& order);
  void log(const order::Log& line);
  /// The story is over, and the client goes.
  void begin_end();
  void expect_end();
  bool is_closing() const { return is_closing_; }
  bool is_over() const { return is_over_; }

 private:
  std::optional<Bridge> bridge_;
  std::vector<std::string> logs_;
  ClientLedger ledger_;
  bool is_closing_ = false;
  bool is_over_ = false;
};

}  // namespace sitter
