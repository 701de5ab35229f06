#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/http/http_link.hpp"
#include "sitter/bridge.hpp"
#include "sitter/fact_queue.hpp"
#include "support/bridge_script.hpp"
#include "support/messages.hpp"
#include "support/story_lines.hpp"

namespace sitter {

/// What the daemon does when a story does not tell it. A story changes it before the daemon opens.
struct Daemon {
  /// Whether `initialize` opens a session: "s1", "s2" and so on.
  bool has_sessions = true;
  /// Whether the daemon gives a stream for GET.
  bool has_stream = true;
  /// What the system shows of the process that listens.
  ListenerId listener{100};
  std::optional<std::int64_t> pid = 4242;
};

/// Tells a story to a bridge whose child is a daemon that is reached over HTTP: a `Bridge` and an
/// `HttpLink`, connected as the shell connects them, without any I/O. The client's lines and facts
/// of HTTP go in, and what both have ordered comes out of `done()` in short words. Exchanges are
/// named by their number. The ids of the bridge's own requests are written as `#1`, `#2`.
///
/// At its end the story closes the client's input. It fails if a request does not have its one
/// answer, if the bridge does not end, if a line to the client is not a JSON-RPC message, or if an
/// order names an exchange twice or one that is over.
class LinkTest : public ::testing::Test {
 protected:
  using Headers = std::vector<HttpHeader>;
  using Exchange = std::uint64_t;

  /// Which orders the shell answers at once, so that a story need not tell the answers.
  struct Plays {
    bool start = true;
    bool signal = true;
  };

  BridgeConfig config = [] {
    BridgeConfig chosen;
    chosen.url = "http://127.0.0.1:3000/mcp";
    chosen.command = chosen.url;
    chosen.sitter_version = "9.9.9";
    return chosen;
  }();
  HttpLink::Options options = [] {
    HttpLink::Options chosen;
    std::string ignored;
    chosen.url = *parse_url("http://127.0.0.1:3000/mcp", ignored);
    chosen.sitter_version = "9.9.9";
    return chosen;
  }();
  Plays plays;
  Server server;
  Daemon daemon;
  Now now{Instant() + std::chrono::hours(1), WallTime() + std::chrono::hours(500000)};
  /// True in stories of the revision that has batches.
  bool takes_batches = false;

  Bridge& bridge();
  HttpLink& link();

  // Facts from the client.
  void client(const std::string& line);
  void client_closes_input() { tell(fact::ClientClosedInput{}); }
  void signal(int exit_code) { tell(fact::StopSignalled{exit_code}); }

  // Facts of HTTP.
  void connected(Exchange exchange);
  /// There is no connection, so nothing was sent.
  void not_connected(Exchange exchange,
                     const std::string& reason = "nothing listens on 127.0.0.1:3000");
  void other_listener(Exchange exchange);
  /// The connection ends before the response is complete.
  void breaks(Exchange exchange, const std::string& reason = "the connection was closed");
  void head(Exchange exchange, int code, Headers headers = {});
  void bytes(Exchange exchange, const std::string& bytes);
  void ends(Exchange exchange);
  /// A whole response.
  void status(Exchange exchange, int code, const std::string& body = "", Headers headers = {});
  /// The response is this message, as JSON.
  void answers(Exchange exchange, const std::string& message, Headers headers = {});
  /// A notification or an answer was taken.
  void takes(Exchange exchange) { status(exchange, 202); }
  /// The response is an event stream, which has begun.
  void streams(Exchange exchange, Headers headers = {});
  void event(Exchange exchange, const std::string& message, const std::string& event_id = "");

  /// The daemon closes an idle connection earlier than it has announced.
  void idle_connection_closes();

  // Facts of the process of the daemon.
  void process_started(Generation gen);
  void process_start_fails(Generation gen, const std::string& reason);
  void process_says(Generation gen, const std::string& line);
  void process_exits(Generation gen, int code, const std::string& signal = "");
  void build_ends(int number, int code);

  void tell(const HttpFact& fact);

  /// Turns the clock, and stops at each deadline on the way.
  void time_passes(Milliseconds duration);
  /// Turns the clock to the next deadline, and no further.
  void next_deadline_comes();

  std::optional<Instant> next_timeout();
  /// How long it is until the next deadline.
  Milliseconds wait() {
    return std::chrono::duration_cast<Milliseconds>(next_timeout().value_or(now.steady) -
                                                    now.steady);
  }

  /// What was ordered since the last call, in words: "connect 1", "post 2 [s1] {...}" with the id
  /// of the session, "get 3 [s1] after=7", "delete 4 [s1]", "abort 3"; "client {...}" for lines to
  /// the client; "start process 1", "close process 1", "terminate process 1", "kill process 1",
  /// "release process 1", "renumber process 1 to 2"; "start build 1"; "exit 0". A target other than
  /// that of the URL follows the session ("to /x"), and so do the parameters that are repeated in
  /// headers ("Region=eu").
  std::vector<std::string> done() { return std::exchange(words_, {}); }

  /// Only the lines to the client from `done()`.
  std::vector<std::string> client_got();
  /// The only line that the client got, parsed.
  nlohmann::json answer();
  /// The text of the only block of the only answer.
  std::string answer_text();
  /// The message of the only answer, which is an error with this code.
  std::string error_text(int code);
  /// What sitter_status answers.
  nlohmann::json status_tool();

  /// The log lines above the level debug.
  const std::vector<std::string>& logs() const { return logs_; }
  /// The order for this exchange.
  const order::HttpSend& order_of(Exchange exchange) { return sent_[exchange]; }
  /// The exchange that carries the request with this raw id, if it has one and is not over.
  std::optional<Exchange> exchange_of(const Id& id) const;
  /// The newest exchange.
  Exchange last() const { return known_.empty() ? 0 : *known_.rbegin(); }
  /// How many exchanges are not over.
  std::size_t open_count() const { return open_.size(); }

  // The beginnings of many stories.

  /// The daemon takes connections, opens a session, and answers all requests of the bridge itself,
  /// until nothing is left of this kind.
  void opens_daemon();
  /// Opens a session with a daemon that serves. Ids from 1 on are free.
  void open_session(const std::string& version = "2025-11-25");
  /// The stream of that session, which the daemon has opened.
  static constexpr Exchange kGetStream = 4;
  /// The same with a client that has listed the tools.
  void open_listed_session();
  /// A client of the stateless revision has made a call, which was answered; the lists are known.
  void serve_stateless();
  /// The daemon is killed: what is open breaks.
  void daemon_dies();
  /// Refuses each connection that is being opened. Returns whether there was one.
  bool refuse_connections();
  /// Time passes, and each connection that is tried meanwhile is refused.
  void stays_down(Milliseconds duration);

  void TearDown() override;

  static std::int64_t pid_of(Generation gen) { return 1000 + gen; }

 private:
  template <class Facts>
  void turn(Facts facts) {
    facts();
    feed_from_daemon();
  }
  void tell(const Fact& fact);
  void feed_from_daemon();
  void feed(const Fact& fact) { facts_.feed(fact); }
  void decide(const Fact& fact);
  void carry_out_all();
  void carry_out_link();
  void carry_out(const Order& order);
  void play_signal(const order::SignalUnit& order);
  void write_down(const HttpOrder& order);
  void expect_new(Exchange exchange);
  void expect_open(Exchange exchange);
  void expect_headers(const order::HttpSend& order);
  void end_exchange(Exchange exchange);
  bool opens_one();
  void answer_as_daemon(Exchange exchange);
  void fire_deadlines();
  void turn_to(Instant instant);
  void add_word(std::string word) { words_.push_back(std::move(word)); }

  struct Process {
    bool has_exited = false;
  };

  std::optional<Bridge> bridge_;
  std::optional<HttpLink> link_;
  FactQueue facts_{[this](const Fact& fact) { decide(fact); }};
  std::deque<Fact> of_process_;
  std::vector<std::string> words_;
  std::vector<std::string> logs_;
  ClientLedger ledger_;
  std::set<Exchange> known_;
  std::set<Exchange> open_;
  std::map<Exchange, order::HttpSend> sent_;
  std::set<Exchange> streaming_;
  int sessions_ = 0;
  std::map<Generation, Process> processes_;
  bool is_closing_ = false;
  bool is_over_ = false;
};

}  // namespace sitter
