#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "io/stream/event_loop.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Writes to one end of a pipe, a socket, a terminal or a file without ever waiting for it. Bytes
/// that are not taken at once stay in a queue. The queue has no bound of its own; its owner must
/// check `queued()`.
class StreamWriter {
 public:
  struct Events {
    /// The other side has taken bytes from the queue.
    std::function<void()> on_moved;
    /// Nothing will read the stream any more. The queue is lost, and everything that is appended
    /// later is dropped.
    std::function<void()> on_broken;
  };

  StreamWriter(EventLoop& loop, FileDescriptor target, Events events);
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;
  /// May be called from within an event.
  ~StreamWriter();

  /// Small pieces are collected until `flush()`; large pieces are written at once. If a large piece
  /// is not taken completely, `holder` keeps the rest alive; without a holder, the rest is copied.
  void append(std::string_view piece, const std::shared_ptr<const void>& holder = {});
  /// The same, followed by a line end.
  void append_line(std::string_view piece, const std::shared_ptr<const void>& holder = {});
  /// Writes the collected pieces. It never calls an event itself; events come later.
  void flush();
  std::size_t queued() const;

  /// Also calls `on_broken` if the reading end is closed while nothing is being written.
  void watch();

  /// Closes the stream, after one last try to write the queue without waiting.
  void close();

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
