#pragma once

#include <functional>
#include <memory>

#include "core/wire/line_framer.hpp"
#include "io/stream/event_loop.hpp"
#include "io/stream/file_descriptor.hpp"

namespace sitter {

/// Reads one end of a pipe, a socket, a terminal or a file into lines, whenever there is something
/// to read and it is not paused.
class StreamReader {
 public:
  /// Called after each read, with the framer full of new bytes; and once at the end of the stream.
  struct Events {
    std::function<void(LineFramer&)> on_read;
    std::function<void(LineFramer&)> on_end;
    /// The raw bytes of each read, before `on_read`; may be empty.
    std::function<void(std::string_view)> on_bytes;
  };

  StreamReader(EventLoop& loop, FileDescriptor source, LineFramer framer, Events events);
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  /// May be called from within an event.
  ~StreamReader();

  void set_paused(bool paused);

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
