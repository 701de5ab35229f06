#pragma once

#include <string>

#include "core/http/daemon_probe.hpp"
#include "core/http/daemon_process.hpp"
#include "core/http/exchanges.hpp"
#include "core/http/link_life.hpp"
#include "core/http/link_output.hpp"
#include "core/http/outbox.hpp"
#include "core/wire/room.hpp"

namespace sitter {

/// Reads what the daemon sends: each message becomes a line of the child. An exchange that ends
/// without what it was for is sent again, now or later; or its request is given back to the bridge,
/// lost, or answered with an error. If the daemon or its session is gone, the child begins to be
/// lost. The state of a response is in its `HttpExchange`.
class Responses {
 public:
  /// See `HttpLink::Options`.
  struct Options {
    bool may_start = false;
    Milliseconds wait_for_server{};
    HasRoom has_room;
  };

  Responses(Options options, LinkLife& life, const DaemonProcess& process, DaemonSession& session,
            DaemonProbe& probe, Exchanges& exchanges, Outbox& outbox, LinkOutput& output)
      : options_(options),
        life_(life),
        process_(process),
        session_(session),
        probe_(probe),
        exchanges_(exchanges),
        outbox_(outbox),
        output_(output) {}

  void on(fact::HttpHead& fact, Now now);
  void on(const fact::HttpBytes& fact, Now now);
  void on(const fact::HttpEnded& fact, Now now);
  void on(const fact::HttpFailed& fact, Now now);
  /// Gives up the exchanges that have not ended in time.
  void give_up_late(Now now);
  /// The head of a refusal says that a request had no effect, so the body is not needed.
  void end_refused(Now now);
  /// Nothing has said more about the requests whose connection has ended.
  void judge(Now now);
  /// The child is lost, if it is up. `why` is a clause for a person.
  void begin_losing(fact::ChildLost::Of of, std::string why, Now now);

 private:
  using Asks = HttpExchange::Asks;
  using Kind = HttpExchange::Kind;
  using Level = order::Log::Level;
  using Of = fact::ChildLost::Of;
  using State = LinkLife::State;

  void take_events(ExchangeId id, Now now);
  void take_text(HttpExchange& exchange, std::string text, Now now);
  void take_message(HttpExchange& exchange, const Message* message, OwnedLine line, Now now);
  void on_body(HttpExchange& exchange, Now now);
  void on_over(ExchangePtr exchange, Now now);
  bool redirect(ExchangePtr exchange, Now now);
  void on_refused(ExchangePtr exchange, Now now);
  void on_resumption_refused(ExchangePtr exchange, Now now);
  void on_stream_over(ExchangePtr exchange, Now now);
  void on_unreachable(ExchangePtr exchange, const fact::HttpFailed& fact, Now now);
  void on_no_descriptor(ExchangePtr exchange, const std::string& why, Now now);
  void on_broken(ExchangePtr exchange, std::string why, Now now);
  void open_stream_once(Now now);
  bool wait_again(ExchangePtr& exchange, Milliseconds asked, Now now);
  bool repeat(ExchangePtr& exchange, Milliseconds at_least, Now now);
  void take_up_later(ExchangePtr exchange, Milliseconds at_least, Now now);
  void answer_refused(const HttpExchange& exchange, const std::string& said);
  void refuse(ExchangePtr exchange, const std::string& why, Milliseconds again_after);
  void lose(ExchangePtr exchange, std::string why, Now now);
  void lose_session(int status, Now now);

  const Options options_;
  LinkLife& life_;
  const DaemonProcess& process_;
  DaemonSession& session_;
  DaemonProbe& probe_;
  Exchanges& exchanges_;
  Outbox& outbox_;
  LinkOutput& output_;
};

}  // namespace sitter
