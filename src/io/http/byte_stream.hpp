#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "sitter/http.hpp"

namespace sitter {

/// A connection below HTTP: TCP, TLS over it, or a tunnel through a proxy. HTTP itself knows no
/// more of it, so that a Unix socket or a pipe may take its place.
///
///     opening --on_opened--> open --on_closed--> (closed)
///        \---------------on_closed-----------------^
class ByteStream {
 public:
  /// The events come from the loop, never from within a call of the owner. The owner may destroy
  /// the stream within each of them.
  struct Events {
    std::function<void()> on_opened;
    /// The view is valid during the call.
    std::function<void(std::string_view)> on_bytes;
    /// The stream has ended; no event follows. `reason` is empty if the other side has ended it in
    /// an orderly way, otherwise a clause for a person: "nothing listens on 127.0.0.1:3001".
    std::function<void(std::string reason)> on_closed;
  };

  virtual ~ByteStream() = default;

  /// Writes as much as the other side takes and queues the rest. Only to be called while the stream
  /// is open. What cannot be written is lost; `on_closed` follows.
  virtual void write(std::string_view bytes) = 0;
  virtual std::size_t queued() const = 0;
  /// While paused, nothing is read, and `on_bytes` is not called.
  virtual void set_paused(bool paused) = 0;
  /// Looks, without waiting, whether the other side has closed the stream or has sent anything
  /// since the last event. An idle connection that has not must not be used again.
  virtual bool is_quiet() = 0;
  /// What listens at the other end of an open stream, if that is on this machine and the system
  /// tells. A stream over another one passes the question on; a stream through a proxy does not.
  virtual ListenerId listener() { return kNoListener; }
  /// Takes what has come since the last event, without waiting; no event follows for it. Empty if
  /// there is nothing, or if the stream cannot do that. A stream above learns so whether all of it
  /// is for itself.
  virtual std::string take_arrived() { return {}; }
};

}  // namespace sitter
