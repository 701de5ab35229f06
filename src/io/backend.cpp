#include "io/backend.hpp"

#include <utility>
#include <variant>

namespace sitter {

Backend::Backend(const Parts& parts)
    : log_(parts.children.log),
      events_(parts.events),
      children_(parts.loop, parts.children,
                [this](const Children::Number& gen) { return events_of(gen); }),
      loop_(parts.loop),
      error_output_(parts.error_output) {}

void Backend::carry_out(const Order& order, Now now) {
  now_ = now;
  if (takes(order)) return;
  if (const auto* const look = std::get_if<order::LookAtSources>(&order)) {
    // The lines for the child leave at the end of this turn, and no call waits for the look.
    loop_.post([this, look = *look] {
      turn([&] { on_process(*children_.carry_out(Order(look), now_.wall)); });
    });
    return;
  }
  if (const auto* const read = std::get_if<order::ReadStack>(&order)) {
    children_.read_stack(read->gen, [this, gen = read->gen](std::string stack) {
      turn([&] { on_process(fact::StackRead{gen, std::move(stack)}); });
    });
    return;
  }
  const auto fact = children_.carry_out(order, now.wall);
  if (!fact) return;
  const auto* const inspected = std::get_if<fact::BinaryInspected>(&*fact);
  if (inspected != nullptr && inspected->facts.path && inspected->facts.exists &&
      events_.on_binary) {
    events_.on_binary(*inspected->facts.path, inspected->facts.behind.value_or(""));
  }
  on_process(*fact);
}

void Backend::reap(Now now) {
  now_ = now;
  for (const Fact& fact : children_.ended()) on_process(fact);
}

ChildProcess::Events Backend::events_of(const Children::Number& gen) {
  const auto tell_all = [this, gen](LineFramer& framer) {
    turn([&] {
      while (const auto frame = framer.next()) tell_errors(*gen, *frame);
      tell_moved(*gen);
    });
  };
  const auto tell_rest = [this, gen](LineFramer& framer) {
    if (const auto frame = framer.rest()) tell_errors(*gen, *frame);
  };
  return {.on_output = tell_all,
          .on_output_end =
              [=, this](LineFramer& framer) {
                turn([&] {
                  tell_rest(framer);
                  // A daemon is not over when its output ends.
                  if (is_build(*gen)) on_process(fact::ChildOutputEnded{*gen});
                });
              },
          .on_output_bytes = {},
          .on_error = tell_all,
          .on_error_end =
              [=, this](LineFramer& framer) {
                turn([&] {
                  tell_rest(framer);
                  on_process(fact::ChildErrorEnded{*gen});
                });
              },
          .on_error_bytes =
              [this, gen](std::string_view bytes) {
                if (!is_build(*gen)) error_output_.write(bytes);
              },
          .on_input_moved =
              [this, gen] {
                turn([&] {
                  if (children_.is_input_full(*gen)) on_process(fact::ChildInputMoved{*gen});
                });
              },
          .on_input_broken = [] {}};
}

void Backend::tell_moved(Generation gen) {
  const ChildProcess* const child = children_.find(gen);
  if (child != nullptr && child->has_exited()) on_process(fact::ChildOutputMoved{gen});
}

void Backend::tell_errors(Generation gen, const LineFramer::Frame& frame) {
  each_error_line(gen, frame, [this](const fact::ChildErrorLine& line) { on_process(line); });
}

}  // namespace sitter
