#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/http/http_link.hpp"
#include "sitter/fact_queue.hpp"
#include "support/client_script.hpp"

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
  /// An earlier session has started the daemon, and no other session has it.
  bool is_of_earlier_session = false;
};

/// Tells a story to a bridge whose child is a daemon that is reached over HTTP: a `Bridge` and an
/// `HttpLink`, connected as the shell connects them, without any I/O. Exchanges are named by their
/// number.
///
/// The story also fails if an order names an exchange twice or one that is over.
class LinkTest : public ClientScript {
 protected:
  using Headers = std::vector<HttpHeader>;
  using Exchange = std::uint64_t;

  /// Which orders the shell answers at once, so that a story need not tell the answers.
  struct Plays {
    bool start = true;
    bool signal = true;
  };

  LinkTest() { config.command = config.url = "http://127.0.0.1:3000/mcp"; }

  HttpLink::Options options = [] {
    HttpLink::Options chosen;
    std::string ignored;
    chosen.url = *parse_url("http://127.0.0.1:3000/mcp", ignored);
    chosen.sitter_version = "9.9.9";
    return chosen;
  }();
  Plays plays;
  Daemon daemon;

  HttpLink& link();

  // Facts of HTTP.
  void connected(Exchange exchange);
  /// There is no connection, so nothing was sent.
  void not_connected(Exchange exchange,
                     const std::string& reason = "nothing listens on 127.0.0.1:3000");
  void no_descriptor(Exchange exchange);
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
  void process_start_fails(Generation gen, const std::string& reason);
  void process_says(Generation gen, const std::string& line);
  void process_exits(Generation gen, const ExitStatus& status);
  void process_exits(Generation gen, int code, const std::string& signal = "") {
    process_exits(gen, {code, signal});
  }
  void build_ends(int number, int code);

  void tell(const HttpFact& fact);

  std::optional<Instant> next_timeout() override;
  /// How long it is until the next deadline.
  Milliseconds wait() {
    return std::chrono::duration_cast<Milliseconds>(next_timeout().value_or(now.steady) -
                                                    now.steady);
  }

  // The words of the orders are "connect 1", "post 2 [s1] {...}" with the id of the session, "get 3
  // [s1] after=7", "delete 4 [s1]", "abort 3"; "client {...}" for lines to the client; "start
  // process 1", "close process 1", "terminate process 1", "kill process 1", "release process 1",
  // "renumber process 1 to 2"; "start build 1"; "exit 0". A target other than that of the URL
  // follows the session ("to /x"), and so do the parameters that are repeated in headers
  // ("Region=eu").

  /// The message of the only answer, which is an error with this code.
  std::string error_text(int code);
  /// What sitter_status answers.
  nlohmann::json status_tool();

  /// The order for this exchange.
  const order::HttpSend& order_of(Exchange exchange) { return sent_[exchange]; }
  /// The exchange that carries the request with this raw id, if it has one and is not over.
  std::optional<Exchange> exchange_of(const Id& id) const;
  /// The newest exchange.
  Exchange last() const { return known_.empty() ? 0 : *known_.rbegin(); }
  /// How many exchanges are not over.
  std::size_t open_count() const { return open_.size(); }

  // The beginnings of many stories.

  /// The client opens a session, and the daemon has not yet taken `initialized`.
  void client_opens();
  /// The daemon takes connections, opens a session, and answers all requests of the bridge itself,
  /// until nothing is left of this kind.
  void opens_daemon();
  /// One step of this. Returns false if nothing is left.
  bool opens_one();
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

 private:
  template <class Facts>
  void turn(Facts facts) {
    facts();
    feed_from_daemon();
  }
  void tell(const Fact& fact) override;
  void feed_from_daemon();
  void feed(const Fact& fact) { facts_.feed(fact); }
  void decide(const Fact& fact);
  void carry_out_all();
  void carry_out_link();
  void take_daemon(Generation gen);
  void carry_out(const Order& order);
  void play_signal(const order::SignalUnit& order);
  void write_down(const HttpOrder& order);
  void expect_new(Exchange exchange);
  void expect_open(Exchange exchange);
  void expect_headers(const order::HttpSend& order);
  void end_exchange(Exchange exchange);
  void answer_as_daemon(Exchange exchange);
  void handle_timeout() override;

  struct Process {
    bool has_exited = false;
  };

  std::optional<HttpLink> link_;
  FactQueue facts_{[this](const Fact& fact) { decide(fact); }};
  std::deque<Fact> of_process_;
  std::set<Exchange> known_;
  std::set<Exchange> open_;
  std::map<Exchange, order::HttpSend> sent_;
  std::set<Exchange> streaming_;
  int sessions_ = 0;
  std::map<Generation, Process> processes_;
};

}  // namespace sitter
