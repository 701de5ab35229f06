#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "soak/findings.hpp"

namespace sitter::soak {

using Json = nlohmann::json;

/// What a client has asked, which answers came, and what the servers' journal says of it.
class Ledger {
 public:
  struct Request {
    std::string method = {};
    /// The text that one block of the result holds if the server itself answers; empty for any.
    std::string expected = {};
    /// What the server reports to the token before it answers. The token is the id.
    int progress_steps = 0;
  };

  struct Counts {
    std::size_t sent = 0, answered = 0, failed = 0, cancelled = 0;
  };

  /// `journal` is the file that fake-mcp writes; it need not be there yet.
  Ledger(Findings& findings, std::string journal);

  /// Writes a request down: its id. Ids go up by one, from 1.
  long open(Request request);
  /// The client has cancelled it: it may still be answered, once.
  void cancel(long id);
  void on_answer(const Json& answer);
  void on_progress(const Json& params);

  /// Reads what the journal holds since the last time.
  void read_journal();

  std::size_t open_count() const { return open_.size(); }
  std::vector<long> open_ids() const;
  const Request& request(long id) const { return open_.at(id).request; }
  /// Those that are still open are lost, and no longer waited for.
  void give_up();
  /// The bridge was killed, which answers nothing.
  void forgive() { open_.clear(); }

  const Counts& counts() const { return counts_; }
  /// Servers that were asked something, as the journal has it.
  std::size_t server_count() const { return servers_.size(); }

 private:
  struct Open {
    Request request;
    int progress = 0;
  };
  /// What is known of a request for good, a bit each.
  enum Past : std::uint8_t { kCancelled = 1, kAnswered = 2, kRan = 4, kToldUndelivered = 8 };

  bool is_known(long id) const { return id > 0 && id < static_cast<long>(past_.size()); }
  std::uint8_t& past(long id) { return past_[static_cast<std::size_t>(id)]; }
  void check_result(long id, const Open& open, const Json& answer);
  void on_journal_line(const std::string& line);
  void check_undelivered(long id);

  Findings& findings_;
  std::string journal_path_;
  std::ifstream journal_;
  /// Of a line that is still being written.
  std::string unread_;
  std::unordered_map<long, Open> open_;
  std::vector<std::uint8_t> past_{0};
  std::set<long> servers_;
  Counts counts_;
};

}  // namespace sitter::soak
