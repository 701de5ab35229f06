#include "io/stdio_backend.hpp"

#include <variant>

namespace sitter {

bool StdioBackend::takes(const Order& order) {
  if (const auto* const send = std::get_if<order::SendToChild>(&order)) {
    if (ChildProcess* const child = children_.find(send->gen)) {
      relay_.put(send->line, child->input());
    }
    return true;
  }
  if (std::holds_alternative<order::StartChild>(order) && events_.on_binary) {
    events_.on_binary(binary_path(), {});
  }
  return false;
}

ChildProcess::Events StdioBackend::events_of(const Children::Number& gen) {
  ChildProcess::Events events = Backend::events_of(gen);
  events.on_output = [this, gen](LineFramer& framer) {
    turn([&] {
      relay_.each_frame(framer, [&](const auto& frame) { tell(*gen, frame); });
      tell_moved(*gen);
    });
  };
  events.on_output_end = [this, gen](LineFramer& framer) {
    turn([&] {
      if (const auto frame = framer.rest()) tell(*gen, *frame, true);
      events_.on_fact(fact::ChildOutputEnded{*gen});
    });
  };
  events.on_input_broken = [this, gen] {
    turn([&] { events_.on_fact(fact::ChildInputBroken{*gen}); });
  };
  return events;
}

void StdioBackend::tell(Generation gen, const LineFramer::Frame& frame, bool is_unfinished) {
  if (frame.size == 0) {
    events_.on_fact(fact::ChildLine{gen, frame.line, is_unfinished});
  } else {
    events_.on_fact(fact::ChildLineTooLong{gen, frame.head, frame.tail, frame.size});
  }
}

}  // namespace sitter
