#pragma once

#include <functional>
#include <memory>

#include "core/wire/line_framer.hpp"
#include "io/stream/event_loop.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Reads lines from one end of a pipe, a socket, a terminal or a file, whenever there is something
/// to read and the reader is not paused.
class StreamReader {
 public:
  /// The events after each read, when the framer holds new bytes, and once at the end of the
  /// stream.
  struct Events {
    std::function<void(LineFramer&)> on_read;
    std::function<void(LineFramer&)> on_end;
    /// Gets the raw bytes of each read, before `on_read`. May be unset.
    std::function<void(std::string_view)> on_bytes;
  };

  StreamReader(EventLoop& loop, FileDescriptor source, LineFramer framer, Events events);
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  /// May be called from within an event.
  ~StreamReader();

  void set_paused(bool paused);

  /// These bytes come before all that is read, and soon.
  void begin_with(std::string bytes);

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
