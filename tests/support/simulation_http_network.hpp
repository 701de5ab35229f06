#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/generation.hpp"
#include "sitter/http.hpp"
#include "sitter/time.hpp"
#include "support/simulation_http_scene.hpp"
#include "support/simulation_http_server.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_tally.hpp"

namespace sitter::sim {

/// The way between the link and the daemon: the shell's connections, and perhaps a proxy. It tells
/// the link each fact of HTTP at a moment of its own, and breaks what it likes.
class HttpNetwork {
 public:
  using Tell = std::function<void(const HttpFact&)>;

  HttpNetwork(Random& random, const HttpScene& scene, HttpSaid& said, Tally& tally, Tell tell)
      : random_(random),
        scene_(scene),
        said_(said),
        tally_(tally),
        tell_(std::move(tell)),
        server_(random, scene, said) {}

  // What the link has ordered.
  void take(const order::HttpConnect& order, Instant now);
  void take(const order::HttpSend& order, Instant now);
  void take(const order::HttpAbort& order, Instant now);
  /// Nothing is as large as that.
  void take(const order::HttpPause&, Instant) {}

  /// Lets one thing happen. Returns false if there is nothing that could happen.
  bool act(Instant now);

  // What happens to the process of the daemon.
  void begins();
  /// It does not listen any more, and finishes what it has.
  void closes() { is_listening_ = false; }
  void dies();
  void forgets_sessions();
  /// A daemon without a session closes idle connections as it likes.
  void closes_idle();
  /// From now on nothing goes wrong.
  void behave();

  /// The link begins with another child.
  void on_child_ordered(Generation gen);
  /// The link may ask at once whether another process listens.
  void on_exit_seen() { asks_after_exit_ = true; }
  /// The link has this line of the bridge, or has given it back.
  void on_given(std::string_view line, Instant now);
  void on_given_back(std::string_view line);
  /// The child is over, and with it everything that the link had.
  void on_child_over() { waiting_.clear(); }
  /// What the link may send does not wait longer than for a daemon that is away.
  void check_waits(Instant now);
  /// Nobody waits for the answer to this request any more.
  void check_cancelled(int mark) const;

  bool listens() const { return is_listening_; }
  /// The session that is open at both ends; empty if there is none.
  std::string live_session() const;
  bool has_ended(const std::string& session) const { return sessions_.ended.contains(session); }
  /// Whether the stream of the session is open, or need not be.
  bool has_stream();
  bool is_idle() const { return exchanges_.empty(); }

 private:
  struct Exchange {
    enum class Stage { arriving, answering, silent, broken };

    Stage stage = Stage::arriving;
    bool is_connect = false;
    order::HttpSend sent;
    /// The life of the daemon in which the request was ordered.
    int life = 0;
    bool has_head = false;
    HttpServer::Reply reply;
    /// What is on its way.
    std::string pending;
    /// The event of the stream that `pending` ends.
    bool ends_event = false;
    std::size_t next_event = 0;
    bool has_event = false;
    bool is_resumption = false;
    bool is_resumed_request = false;
    /// The number of the client's request; 0 for any other.
    int mark = 0;
    bool is_request = false;
    bool is_probe = false;
    bool is_notification = false;
    bool is_answered = false;
    bool is_listen = false;
    bool is_opening = false;
    bool is_session_stream() const {
      return sent.method == order::HttpSend::Method::get && !is_resumption;
    }
    /// The link waits for this response only so long.
    bool is_given_up() const {
      return is_notification || is_probe || (has_head && reply.status >= 300);
    }
  };
  using Exchanges = std::map<ExchangeId, Exchange>;

  // simulation_http_orders.cpp: what must hold for each order
  void check(const Exchange& exchange) const;
  bool is_held() const;
  bool has_room() const;
  void check_turn(const Exchange& exchange);
  void check_session(const Exchange& exchange);
  const HttpServer::Work* work_after(const Exchange& exchange);
  void check_resumption(const Exchange& exchange);
  void check_connect();
  void note_head(const Exchange& exchange);
  void note_refusal(const Exchange& exchange);
  void note_cut_refusal(const Exchange& exchange);

  void arrives(ExchangeId id, Exchange& exchange);
  bool goes_wrong(ExchangeId id, Exchange& exchange);
  void refuses_for_now(Exchange& exchange);
  void answers_for(Exchange& exchange, int status, std::vector<HttpHeader> headers = {},
                   std::string body = "");
  void receives(Exchange& exchange);
  void goes_on(ExchangeId id, Exchange& exchange, Instant now);
  bool fetch_event(Exchange& exchange);
  bool is_complete(const Exchange& exchange);
  std::string event_text(const HttpServer::Work& work, std::size_t index);
  void deliver(ExchangeId id, Exchange& exchange);
  void ends(ExchangeId id);
  void fails(ExchangeId id, fact::HttpFailed::Kind kind, std::string reason);
  void on_cut(const Exchange& exchange);
  ListenerId listener() const;
  void count(const std::string& what) { ++tally_[what]; }
  bool has_fault() { return !is_behaving_ && random_.below(1000) < scene_.faults; }

  struct Sessions {
    /// The session that the link must name, and the last one that the daemon does not know any
    /// more.
    std::string open;
    std::string lost;
    /// The sessions that the link has ended.
    std::set<std::string> ended;
  };

  /// How often a session was asked for at this moment.
  struct Openings {
    Instant at{};
    int count = 0;
  };

  Random& random_;
  const HttpScene& scene_;
  HttpSaid& said_;
  Tally& tally_;
  Tell tell_;
  HttpServer server_;
  bool is_listening_ = false;
  bool is_behaving_ = false;
  Exchanges exchanges_;
  ExchangeId last_{};
  Instant now_{};
  Sessions sessions_;
  /// The stream of the session was refused for good.
  bool is_stream_refused_ = false;
  /// The session is open, so its version is named.
  bool is_open_ = false;
  /// When no connection could be opened, and how often at this moment a session was asked for.
  Generation gen_ = kNoGeneration;
  /// What the link was told last of the process that listens.
  ListenerId listener_ = kNoListener;
  /// The bodies of what was redirected, or not taken, and may be sent again before its turn.
  std::multiset<std::string> sent_again_;
  /// The client's requests that the link has and has not sent, and since when.
  std::map<int, Instant> waiting_;
  /// Since when the link may have sent one of them.
  Instant free_since_{};
  bool is_free_ = false;
  Instant refused_at_{};
  bool asks_after_exit_ = false;
  Openings opening_;
};

}  // namespace sitter::sim
