#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/http/responses.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// Plays a daemon that speaks Streamable HTTP (MCP 2025-11-25 and 2026-07-28, "Transports") as a
/// child that speaks line by line. It takes the orders for the child, gives the facts of the child,
/// and decides what is sent over HTTP; it does nothing itself. A generation is one session, or
/// without sessions one process that listens.
///
/// This class routes between machines: `LinkLife` has the states of the child, `DaemonProcess`
/// those of a process that was started here, and `Exchanges` what is on its way.
///
/// Notifications and the client's answers hold the lines after them until the daemon has taken or
/// refused them. Requests hold nothing.
class HttpLink {
 public:
  struct Options {
    Url url;
    /// Sent with each request. The values may be secret.
    std::vector<HttpHeader> headers;
    bool keeps_session = false;  ///< the session stays open when its child is taken down
    bool may_start = false;      ///< the daemon may be started here
    /// How long a command that has returned may take to bring a daemon that listens; zero for no
    /// limit.
    Milliseconds startup_timeout{50000};
    bool ends_daemon = false;  ///< a daemon that was started here ends with the bridge
    /// How long a notification that the daemon refuses for now is sent again.
    Milliseconds wait_for_server{30000};
    std::string sitter_version;
    HasRoom has_room = sitter::has_room;
  };

  explicit HttpLink(Options options);
  HttpLink(const HttpLink&) = delete;
  HttpLink& operator=(const HttpLink&) = delete;

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
  const HttpOrder* poll_order() { return exchanges_.poll_order(); }
  /// The next order for the process of the daemon.
  const DaemonOrder* poll_process_order() { return process_.poll_order(); }
  const order::Log* poll_log() { return output_.poll_log(); }
  /// The next fact of the child.
  const Fact* poll_fact() { return output_.poll_fact(); }

 private:
  using Kind = HttpExchange::Kind;
  using State = LinkLife::State;

  void connect(Now now);
  void on(fact::HttpConnected& fact, Now now);
  void on(fact::HttpFailed& fact, Now now);
  void on(fact::HttpIdleClosed&, Now now) {
    if (life_.is_up() && !session_.has_id()) probe_.on_idle_closed(now);
  }
  void on(auto& response, Now now) { responses_.on(response, now); }
  void come_up();
  void tell_exit(Now now);
  void take_line(OwnedLine line, const Message& message, Now now);
  void cancel(const Message& message, OwnedLine line, Now now);
  void send_what_may(Now now);
  void finish_losing(Now now);
  void become_idle();
  void advance(Now now);

  const Options options_;
  LinkOutput output_;
  LinkLife life_;
  DaemonProcess process_;
  DaemonSession session_;
  DaemonProbe probe_;
  Exchanges exchanges_;
  Outbox outbox_;
  Responses responses_;
};

}  // namespace sitter
