#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "io/stream/event_loop.hpp"
#include "io/stream/file_descriptor.hpp"

namespace sitter {

/// Writes to one end of a pipe, a socket, a terminal or a file without ever waiting for it: what is
/// not taken at once stays in a queue. The queue has no bound of its own; its owner looks at
/// `queued()`.
class StreamWriter {
 public:
  struct Events {
    /// The other side has taken something of the queue.
    std::function<void()> on_moved;
    /// Nobody will read any more. What was queued is gone, and all that is appended later.
    std::function<void()> on_broken;
  };

  StreamWriter(EventLoop& loop, FileDescriptor target, Events events);
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;
  /// May be called from within an event.
  ~StreamWriter();

  /// Small pieces are collected until `flush()`, large ones are written at once. What is not taken
  /// of a large one is kept by its holder if there is one, and else copied.
  void append(std::string_view piece, const std::shared_ptr<const void>& holder = {});
  /// The same, with a line end behind it.
  void append_line(std::string_view piece, const std::shared_ptr<const void>& holder = {});
  /// Writes what was collected. Events are called later, never from here.
  void flush();
  std::size_t queued() const;

  /// Also tells, by `on_broken`, when the reading end is closed while nothing is written.
  void watch();

  /// Closes the stream; what is queued is tried once more without waiting.
  void close();

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
