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

/// The requests of a client, the answers that came, and what the journal of the servers says about
/// them.
class Ledger {
 public:
  struct Request {
    std::string method = {};
    /// The text that one block of the result holds if the server itself answers. Empty if any text
    /// will do.
    std::string expected = {};
    /// How many times the server reports progress before it answers. The token is the id.
    int progress_steps = 0;
  };

  struct Counts {
    std::size_t sent = 0, answered = 0, failed = 0, cancelled = 0;
  };

  /// `journal` is the file that fake-mcp writes; it need not be there yet.
  Ledger(Findings& findings, std::string journal);

  /// Records a request and returns its id. Ids go up by one, from 1.
  long open(Request request);
  /// The client has cancelled the request. The request may still be answered once.
  void cancel(long id);
  void on_answer(const Json& answer);
  void on_progress(const Json& params);

  /// Reads what the journal holds since the last time.
  void read_journal();

  std::size_t open_count() const { return open_.size(); }
  std::vector<long> open_ids() const;
  const Request& request(long id) const { return open_.at(id).request; }
  /// Records the requests that are still open as lost, and no longer waits for them.
  void give_up();
  /// A signal has ended the bridge, so it owes no answers any more.
  void forgive() { open_.clear(); }

  const Counts& counts() const { return counts_; }
  /// The number of servers that were asked something, according to the journal.
  std::size_t server_count() const { return servers_.size(); }

 private:
  struct Open {
    Request request;
    int progress = 0;
  };
  /// What stays known about a request. Each value is a bit.
  enum Past : std::uint8_t { kCancelled = 1, kAnswered = 2, kRan = 4, kToldUndelivered = 8 };

  bool is_known(long id) const { return id > 0 && id < static_cast<long>(past_.size()); }
  std::uint8_t& past(long id) { return past_[static_cast<std::size_t>(id)]; }
  void check_result(long id, const Open& open, const Json& answer);
  void on_journal_line(const std::string& line);
  void check_undelivered(long id);

  Findings& findings_;
  std::string journal_path_;
  std::ifstream journal_;
  /// The beginning of a journal line that is still being written.
  std::string unread_;
  std::unordered_map<long, Open> open_;
  std::vector<std::uint8_t> past_{0};
  std::set<long> servers_;
  Counts counts_;
};

}  // namespace sitter::soak
