#pragma once

#include <functional>
#include <optional>

#include "core/http/http_link.hpp"
#include "io/http/http_client.hpp"
#include "io/stream/event_loop.hpp"
#include "io/stream/log.hpp"

namespace sitter {

/// The daemon that is the child of the bridge: an `HttpLink`, which decides, with the connections
/// that carry out what it orders.
class HttpChild {
 public:
  struct Options {
    HttpLink::Options link;
    /// The file of `--cacert`, or empty.
    std::string cacert;
    Environment environment;
  };

  struct Events {
    /// Called from the loop. The owner then calls `handle` with the fact, and `next_fact` until
    /// there is none.
    std::function<void(const HttpFact&)> on_fact;
    /// The order is about to be carried out. For the trace; may be unset.
    std::function<void(const HttpOrder&)> on_order;
  };

  HttpChild(EventLoop& loop, Options options, Log& log, Events events);

  template <class Input>
  void handle(const Input& input, Now now) {
    note(input);
    link_.handle(input, now);
    carry_out_all();
  }
  void handle_timeout(Now now);
  std::optional<Instant> next_timeout() const { return link_.next_timeout(); }
  /// The next fact of the child. Its views are valid until the next call.
  std::optional<Fact> next_fact() { return link_.poll_fact(); }
  /// The next order for the process of the daemon, whose facts go to `handle`.
  std::optional<Order> next_process_order() { return link_.poll_process_order(); }

  /// The process that listened when the last connection was opened, if the system tells.
  std::optional<std::int64_t> listening_pid() const;

  void set_paused(bool paused) { client_.set_paused(paused); }

 private:
  template <class Other>
  void note(const Other&) {}
  void note(const HttpFact& fact);
  void carry_out_all();

  Log& log_;
  std::function<void(const HttpOrder&)> on_order_;
  ListenerId listener_ = kNoListener;
  HttpClient client_;
  HttpLink link_;
};

}  // namespace sitter
