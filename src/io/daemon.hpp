#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/polled_queue.hpp"
#include "core/http/http_link.hpp"
#include "io/children.hpp"
#include "io/http/environment.hpp"
#include "io/http/http_client.hpp"
#include "io/stream/event_loop.hpp"
#include "io/stream/log.hpp"

namespace sitter {

/// The child of the bridge if it is a daemon that is reached over HTTP: the `HttpLink`, which
/// decides, the connections that carry out what it orders, and its process if it was started here.
class Daemon {
 public:
  struct Options {
    HttpLink::Options link;
    /// The file of `--cacert`, or empty.
    std::string cacert;
    Environment environment;
  };

  /// The events are called from the loop. For each fact the owner calls `handle`, and when all
  /// facts of one event are told, `next_fact` until there is none.
  Daemon(EventLoop& loop, Options options, Log& log, Children& children, HttpClient::Events events);

  /// Handles an order for the child, or a fact of its connections or of its process.
  template <class Input>
  void handle(Input&& input, Now now) {
    now_ = now;
    note(input);
    link_.handle(std::forward<Input>(input), now);
    carry_out_all();
  }
  void handle_timeout(Now now);
  std::optional<Instant> next_timeout() const { return link_.next_timeout(); }
  /// The next fact of the child, or null. It and its views are valid until the next call.
  const Fact* next_fact();

  /// The process that listened when the last connection was opened, if the system tells.
  std::optional<std::int64_t> listening_pid() const;

  void set_paused(bool paused) { client_.set_paused(paused); }

 private:
  template <class Other>
  void note(const Other&) {}
  void note(const HttpFact& fact);
  void carry_out_all();
  void carry_out_for_process(const order::StartChild& order);
  void carry_out_for_process(const order::RenumberChild& order);
  void carry_out_for_process(const order::CloseChildInput& order);
  void carry_out_for_process(const order::SignalUnit& order);
  void carry_out_for_process(const order::ReleaseChild& order);
  template <class Other>
  void carry_out_for_process(const Other&) {}

  Log& log_;
  Children& children_;
  HttpClient client_;
  HttpLink link_;
  Now now_{};
  ListenerId listener_ = kNoListener;
  /// Facts of the process that the link need not see.
  PolledQueue<Fact> of_process_;
};

}  // namespace sitter
