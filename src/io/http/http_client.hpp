#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/http/url.hpp"
#include "io/http/connector.hpp"
#include "io/stream/event_loop.hpp"
#include "sitter/http.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a connection may be idle before it is used again, if the daemon has announced nothing:
/// Node.js, which announces 5 s, has the shortest of the usual limits. From an announced time, the
/// margin is taken for what is under way, and nobody keeps a connection for longer than the last
/// number.
inline constexpr Milliseconds kIdleDefault{4'000};
inline constexpr Milliseconds kIdleMargin{1'000};
inline constexpr Milliseconds kIdleMax{3'600'000};

}  // namespace limits

/// Carries out the HTTP orders of the core over connections to one daemon: it moves bytes and
/// connects, and decides nothing about the protocol above HTTP.
///
/// An idle connection is used again, unless it has been idle for as long as the daemon has
/// announced
/// (`Keep-Alive: timeout=N`), less one second, or for 4 s if the daemon has announced nothing.
/// Node.js announces 5 s and closes at 5.9 s.
class HttpClient {
 public:
  struct Options {
    Url url;
    Connector connect;
    /// Empty for the time of the loop.
    std::function<Instant()> now = {};
  };

  struct Events {
    /// The facts come from the loop, never from within `carry_out`.
    std::function<void(HttpFact&&)> on_fact;
    /// One event of the loop has led to these facts, and to no more.
    std::function<void()> on_told;
  };

  HttpClient(EventLoop& loop, Options options, Events events);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  /// Closes all connections.
  ~HttpClient();

  void carry_out(const HttpOrder& order);

  /// While paused, no response is read. A connection that opens meanwhile still gets its request.
  void set_paused(bool paused);
  /// How many bytes of requests wait until the daemon takes them.
  std::size_t queued() const;

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
