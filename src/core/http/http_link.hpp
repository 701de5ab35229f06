#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/polled_queue.hpp"
#include "core/http/http_exchange.hpp"
#include "core/http/mcp_headers.hpp"
#include "core/http/outbox.hpp"
#include "core/http/secrets.hpp"
#include "core/http/session_headers.hpp"
#include "core/http/session_loss.hpp"
#include "core/http/url.hpp"
#include "core/wire/message.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/room.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/http.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Plays a daemon that speaks Streamable HTTP (MCP 2025-11-25 and 2026-07-28, "Transports") as a
/// child that speaks line by line. It takes the orders for the child, gives the facts of the child,
/// and decides what is sent over HTTP; it does nothing itself. A generation is one session, or
/// without sessions one process that listens.
///
///     idle --StartChild--> connecting --> up --> losing --> idle
///                            |  ^  |       |\--> leaving --> idle
///                            |  |  |       \---> dying --> idle
///                            |  |  \--> launching --> up
///                            \--/ (nothing listens: the start is ordered again)
///
/// With a command the daemon is started if nothing listens. Its process then is the process of the
/// child, as that of any other child, and outlives a session that is lost.
///
/// Notifications and the client's answers hold the lines after them until the daemon has taken
/// them. Requests hold nothing.
class HttpLink {
 public:
  struct Options {
    Url url;
    /// Sent with each request. The values may be secret.
    std::vector<HttpHeader> headers;
    /// Whether the session stays open when its child is taken down.
    bool keeps_session = false;
    /// Whether the daemon may be started here.
    bool may_start = false;
    /// How long a command that has returned may take to bring a daemon that listens; zero for no
    /// limit.
    Milliseconds startup_timeout{50000};
    /// Whether a daemon that was started here ends with the bridge.
    bool ends_daemon = false;
    std::string sitter_version;
    HasRoom has_room = sitter::has_room;
  };

  explicit HttpLink(Options options);

  void handle(const order::StartChild& order, Now now);
  void handle(const order::SendToChild& order, Now now);
  void handle(const order::CloseChildInput& order, Now now);
  void handle(const order::SignalUnit& order, Now now);
  void handle(const order::ReleaseChild& order, Now now);
  void handle(HttpFact&& fact, Now now);
  // The facts of the process that `poll_process_order` has started.
  void handle(const fact::ChildStarted& fact, Now now);
  void handle(const fact::ChildStartFailed& fact, Now now);
  void handle(const fact::ChildExited& fact, Now now);
  /// Harmless when nothing is due.
  void handle_timeout(Now now);
  std::optional<Instant> next_timeout() const;

  // What is polled is null if there is nothing, and valid until the next call of the same function.
  const HttpOrder* poll_order();
  /// The next order for the process of the daemon.
  const Order* poll_process_order() { return process_orders_.poll(); }
  const order::Log* poll_log() { return logs_.poll(); }
  /// The next fact of the child.
  const Fact* poll_fact();

 private:
  enum class State : std::uint8_t {
    idle,        ///< there is no child
    connecting,  ///< a first connection is being opened
    launching,   ///< the process of the daemon was started, and does not listen yet
    up,          ///< the child was started
    dying,       ///< the process of the daemon has exited, and its last answers are read
    losing,      ///< the child is lost, and what it was asked may still be answered for a moment
    leaving,     ///< the child is taken down, and the session is being ended
  };
  using Kind = HttpExchange::Kind;
  using Asks = HttpExchange::Asks;
  using Sent = std::vector<ExchangePtr>::iterator;

  /// Why the daemon must list its tools before anything else.
  enum class Doubt : std::uint8_t {
    none,
    daemon,   ///< it may be another daemon than before
    headers,  ///< it has refused a request because of its headers
  };

  // http_link.cpp: the child
  void begin_session(std::string id);
  void begin_losing(fact::ChildLost::Of of, std::string why);
  void end_refused();
  void finish_losing();
  void leave(bool leaves_process);
  void become_idle();
  Sent find_sent(ExchangeId number);
  ExchangePtr take_sent(ExchangeId number);
  ExchangePtr abort(ExchangeId number);
  void abort_all_of(Kind kind);
  void abort_all();
  void give_up_late();
  void advance();
  Milliseconds next_wait(Milliseconds asked = {});

  // http_link_lines.cpp: the lines for the daemon
  void take_line(OwnedLine line, const Message& message);
  ExchangePtr new_exchange(Kind kind) const;
  ExchangePtr as_exchange(const Message& message, OwnedLine line);
  void cancel(const Message& message, OwnedLine line);
  std::size_t request_count() const;
  bool holds() const;
  void send_what_may();
  void send(ExchangePtr exchange);
  void write_order(const HttpExchange& exchange);
  bool repeat(ExchangePtr& exchange, Milliseconds at_least = {});
  void append_headers(std::string& lines, const HttpExchange& exchange) const;
  void open_stream_once();

  // http_link_probe.cpp: whether a daemon that keeps no session is still the same
  bool must_probe() const {
    return doubt_ == Doubt::headers || (doubt_ == Doubt::daemon && !last_tools_.empty());
  }
  void probe();
  void note_tools(std::string_view result);
  static std::string envelope_of(const Message::Params& params);
  void refresh_headers(HttpExchange& exchange);
  void on_probed(const HttpExchange& exchange);
  void on(const fact::HttpIdleClosed& fact);

  // http_link_process.cpp: the process of a daemon that was started here
  bool has_process() const { return pid_ != 0; }
  void connect();
  void begin_launching();
  void on_connected(ListenerId listener);
  void on_not_connected(std::string reason);
  void connect_anew();
  void tell_exit();
  void leave_process();
  void lose_process();
  void judge_later(ExchangePtr exchange, std::string why);
  void judge();
  void on_left();

  // http_link_responses.cpp: what comes over HTTP
  void on(const fact::HttpConnected& fact);
  void on(fact::HttpHead& fact);
  void on(const fact::HttpBytes& fact);
  void on(const fact::HttpEnded& fact);
  void on(const fact::HttpFailed& fact);
  void end_early(ExchangeId id);
  void take_events(ExchangeId id);
  void close_oldest_answered();
  void take_text(HttpExchange& exchange, std::string text);
  void take_message(HttpExchange& exchange, const Message* message, OwnedLine line);
  void note_answer_elsewhere(const Message& message);
  std::optional<std::string> without_invalid_tools(const Message& message, Line line);
  void on_response(ExchangePtr exchange);
  void on_body(HttpExchange& exchange);
  void on_stream_response(ExchangePtr exchange);
  void on_stream_ended(ExchangePtr exchange);
  void on_unreachable(ExchangePtr exchange, const fact::HttpFailed& fact);
  void on_broken(ExchangePtr exchange, std::string why);
  void take_up_later(ExchangePtr exchange, Milliseconds at_least = {});

  // http_link_refusals.cpp: what was not carried out, or perhaps
  SessionLoss loss_in(const HttpExchange& exchange) const;
  std::string words_for(int status) const;
  void on_refused_status(ExchangePtr exchange);
  void on_refused_resumption(ExchangePtr exchange);
  void answer_refused(const HttpExchange& exchange, std::string_view said);
  void redirect(ExchangePtr exchange);
  void refuse(ExchangePtr exchange, std::string why, std::optional<Milliseconds> again_after,
              bool is_unknown_session = false);
  void refuse_waiting(const std::string& why, Milliseconds again_after);
  void refuse_unsent(const std::string& why);
  void refuse_late(OwnedLine line);
  std::optional<fact::RequestRefused> untold_refusal() const;
  void lose(ExchangePtr exchange, std::string why);
  void answer_error(const HttpExchange& exchange, std::string_view message,
                    ErrorCode code = ErrorCode::internal_error);

  const Message* read(const OwnedLine& line);
  void tell(Fact fact) { facts_.push_back({std::move(fact), {}}); }
  void tell_line(OwnedLine line, const Message* message = nullptr);
  void log(order::Log::Level level, std::string text);

  /// A fact, and the line that it refers to.
  struct Told {
    Fact fact;
    OwnedLine line;
    /// The two ends of a line that is too long.
    std::string head = {};
    std::string tail = {};
    /// The number of the reading in which the line was read as it is.
    std::uint64_t reading = 0;
  };
  /// An exchange that is to begin, or to be aborted.
  struct Ordered {
    ExchangeId exchange{};
    bool is_abort = false;
  };
  /// What is to be done later.
  struct Later {
    Instant at{};
    ExchangePtr exchange;
  };

  const Options options_;
  /// The lines of the headers that every request has.
  std::string constant_headers_;
  Secrets secrets_;
  Now now_{};
  State state_ = State::idle;
  Generation gen_ = kNoGeneration;
  MessageReader reader_;
  /// What it has found last, and how often it has read.
  const Message* message_ = nullptr;
  std::uint64_t readings_ = 0;

  SessionHeaders session_;
  std::string target_;
  ToolHeaders tool_headers_;
  ListenerId listener_ = kNoListener;
  /// The tools as the daemon has listed them last, raw, and the envelope with which it was asked.
  std::string last_tools_;
  std::string envelope_;
  Doubt doubt_ = Doubt::none;
  Instant next_probe_{};
  /// Whether this child has answered anything. Until then, a connection shows little: something
  /// between may accept it for a daemon that is away.
  bool is_heard_ = false;
  /// Whether the stream of the session was asked for, and whether it was ever there.
  bool has_asked_stream_ = false;
  bool had_stream_ = false;

  std::uint64_t last_exchange_ = 0;
  /// What was sent and has not ended, in that order.
  std::vector<ExchangePtr> exchanges_;
  /// Answers, progress and pings have an outbox of their own. A request that has its turn
  /// later may be what an answer belongs to.
  Outbox outbox_;
  Outbox express_;
  std::vector<Later> later_;
  int failures_ = 0;
  Instant try_again_at_{};

  /// The process of the daemon, if it was started here and has not exited, and the generation that
  /// the shell knows it by.
  std::int64_t pid_ = 0;
  Generation process_gen_ = kNoGeneration;
  /// Since when it is waited for a process that listens.
  Instant launched_{};
  /// The session was lost and not the process, or the process has left the server behind.
  bool keeps_process_ = false;
  /// The process has had a session before that of this child.
  bool has_served_ = false;
  /// The process has exited, and it is being found out whether that is the end of the server.
  std::optional<fact::ChildExited> exit_;
  std::optional<Instant> connect_at_;
  /// Requests whose connection has ended. Perhaps the process has exited, which is seen soon.
  std::vector<std::pair<ExchangePtr, std::string>> unjudged_;
  std::optional<Instant> judge_at_;
  /// Nothing listens any more. By then the exit of the process should be seen, if that is why.
  std::optional<Instant> exit_by_;

  fact::ChildLost lost_;
  std::optional<Instant> deadline_;

  PolledQueue<Ordered> orders_;
  /// What was polled last. The memory of a request serves the next one.
  HttpOrder polled_send_{order::HttpSend{}};
  HttpOrder polled_other_;
  PolledQueue<Order> process_orders_;
  PolledQueue<order::Log> logs_;
  // In a list the fact that was polled last stays where it is.
  std::list<Told> facts_;
  std::list<Told> told_;
};

}  // namespace sitter
