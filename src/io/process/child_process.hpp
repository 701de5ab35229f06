#pragma once

#include <functional>
#include <string_view>

#include "core/wire/line_framer.hpp"
#include "io/process/launch.hpp"
#include "io/process/process_unit.hpp"
#include "io/stream/stream_reader.hpp"
#include "io/stream/stream_writer.hpp"

namespace sitter {

/// One process of one generation, or of a build, its unit, and its three pipes.
class ChildProcess {
 public:
  struct Events {
    std::function<void(LineFramer&)> on_output;
    std::function<void(LineFramer&)> on_output_end;
    std::function<void(LineFramer&)> on_error;
    std::function<void(LineFramer&)> on_error_end;
    /// Raw bytes of its stderr.
    std::function<void(std::string_view)> on_error_bytes;
    /// It has taken something of its input.
    std::function<void()> on_input_moved;
    /// Nobody reads its input any more.
    std::function<void()> on_input_broken;
  };

  ChildProcess(EventLoop& loop, Launched launched, Generation gen, Events events);

  long pid() const { return pid_; }
  ProcessUnit& unit() { return unit_; }
  StreamWriter& input() { return input_; }

  /// Its exit was reaped. What is in its pipe is then read whatever the client takes: it is at most
  /// what a pipe holds, and the wait for it is bounded.
  void set_exited();
  void set_output_paused(bool paused);

 private:
  long pid_;
  ProcessUnit unit_;
  StreamWriter input_;
  StreamReader output_;
  StreamReader error_;
  bool has_exited_ = false;
};

}  // namespace sitter
