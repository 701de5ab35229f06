#include "io/process/child_process.hpp"

#include <utility>

#include "io/stream/message_framer.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

LineFramer cutting_framer() {
  return LineFramer(limits::kStderrLineMax, limits::kStderrLineMax / 2,
                    LineFramer::Ends::also_returns);
}

}  // namespace

ChildProcess::ChildProcess(EventLoop& loop, Launched launched, Generation gen, const Events& events)
    : pid_(launched.pid),
      unit_(launched.pid, gen),
      input_(loop, std::move(launched.input), {events.on_input_moved, events.on_input_broken}),
      output_(loop, std::move(launched.output),
              events.on_output_bytes ? cutting_framer() : message_framer(),
              {events.on_output, events.on_output_end, events.on_output_bytes}),
      error_(loop, std::move(launched.error), cutting_framer(),
             {events.on_error, events.on_error_end, events.on_error_bytes}) {
  // Lines that are written just before the child closes its stdin are lost, and no failing write
  // reports that.
  input_.watch();
}

void ChildProcess::set_exited() {
  has_exited_ = true;
  output_.set_paused(false);
}

void ChildProcess::set_output_paused(bool paused) {
  if (!has_exited_) output_.set_paused(paused);
}

}  // namespace sitter
