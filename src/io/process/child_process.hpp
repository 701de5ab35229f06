#pragma once

#include <functional>
#include <string_view>

#include "core/wire/line_framer.hpp"
#include "io/process/launch.hpp"
#include "io/process/process_unit.hpp"
#include "io/stream/stream_reader.hpp"
#include "io/stream/stream_writer.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"

namespace sitter {

/// The process of one generation, which may be a build, with its unit and its three pipes.
class ChildProcess {
 public:
  struct Events {
    std::function<void(LineFramer&)> on_output;
    std::function<void(LineFramer&)> on_output_end;
    /// Gets the raw bytes of the stdout before `on_output`. If it is set, long lines are cut.
    std::function<void(std::string_view)> on_output_bytes;
    std::function<void(LineFramer&)> on_error;
    std::function<void(LineFramer&)> on_error_end;
    /// Gets the raw bytes of the stderr.
    std::function<void(std::string_view)> on_error_bytes;
    /// The process has taken some of its input.
    std::function<void()> on_input_moved;
    /// Nothing reads the input of the process any more.
    std::function<void()> on_input_broken;
  };

  ChildProcess(EventLoop& loop, Launched launched, Generation gen, const Events& events);

  long pid() const { return pid_; }
  ProcessUnit& unit() { return unit_; }
  StreamWriter& input() { return input_; }

  /// What was read of the stderr before.
  void begin_error_with(std::string bytes) { error_.begin_with(std::move(bytes)); }

  /// The exit of the process was reaped. From now on its pipe is read even if the client takes
  /// nothing: the pipe holds a bounded amount, and the wait for its end is bounded.
  void set_exited();
  bool has_exited() const { return has_exited_; }
  void set_output_paused(bool paused);

 private:
  long pid_;
  ProcessUnit unit_;
  StreamWriter input_;
  StreamReader output_;
  StreamReader error_;
  bool has_exited_ = false;
};

/// Calls `tell` for what the stderr shows of a line: the line, or the two ends of a long one.
template <class Tell>
void each_error_line(Generation gen, const LineFramer::Frame& frame, Tell tell) {
  if (frame.size == 0) return tell(fact::ChildErrorLine{gen, frame.line.text(), 0});
  tell(fact::ChildErrorLine{gen, frame.head, frame.size - frame.head.size() - frame.tail.size()});
  if (!frame.tail.empty()) tell(fact::ChildErrorLine{gen, frame.tail, 0});
}

}  // namespace sitter
