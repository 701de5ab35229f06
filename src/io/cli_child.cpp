#include "io/cli_child.hpp"

#include <variant>

#include "io/system/whole_file.hpp"
#include "io/trace.hpp"
#include "sitter/cli.hpp"

namespace sitter {

void CliChild::handle_timeout(Now now) {
  now_ = now;
  server_.handle_timeout(now);
  carry_out_all();
}

ChildProcess::Events CliChild::events_of(Generation run) {
  const auto tell = [this](const CliFact& fact) { turn_([&](Now now) { handle(fact, now); }); };
  ChildProcess::Events events;
  // All bytes of the stdout are the result, so they come as they are, and no line is looked for.
  events.on_output = [](LineFramer& framer) {
    while (framer.next()) continue;
  };
  events.on_output_bytes = [=](std::string_view bytes) { tell(fact::RunOutput{run, bytes}); };
  events.on_output_end = [=](LineFramer&) { tell(fact::ChildOutputEnded{run}); };
  events.on_error = [=, this](LineFramer& framer) {
    turn_([&](Now now) {
      while (const auto frame = framer.next()) handle_error(run, *frame, now);
    });
  };
  events.on_error_end = [=, this](LineFramer& framer) {
    turn_([&](Now now) {
      if (const auto frame = framer.rest()) handle_error(run, *frame, now);
      handle(CliFact(fact::ChildErrorEnded{run}), now);
    });
  };
  events.on_error_bytes = [this](std::string_view bytes) { error_output_.write(bytes); };
  events.on_input_moved = [=, this] { turn_([&](Now) { children_.end_run_input(run); }); };
  events.on_input_broken = [] {};
  return events;
}

void CliChild::handle_error(Generation run, const LineFramer::Frame& frame, Now now) {
  each_error_line(run, frame,
                  [&](const fact::ChildErrorLine& line) { handle(CliFact(line), now); });
}

void CliChild::carry_out_all() {
  while (const CliOrder* const polled = server_.poll_order()) {
    if (log_.is_trace()) log_.trace(to_text(*polled));
    std::visit([this](const auto& one) { carry_out(one); }, *polled);
  }
}

void CliChild::carry_out(const order::StartRun& order) {
  const Fact fact = children_.start_run(order);
  if (log_.is_trace()) log_.trace(to_text(fact));
  if (const auto* const started = std::get_if<fact::ChildStarted>(&fact)) {
    server_.handle(*started, now_);
  } else {
    server_.handle(std::get<fact::ChildStartFailed>(fact), now_);
  }
}

void CliChild::carry_out(const order::ReadDescription& order) {
  fact::DescriptionRead fact{order.gen, {}};
  if (auto text = read_whole_file(description_file_, limits::kRunOutputMax, fact.problem)) {
    fact.text = *std::move(text);
  }
  server_.handle(fact, now_);
}

void CliChild::carry_out(const order::SignalUnit& order) {
  if (const auto fact = children_.signal(order)) server_.handle(*fact, now_);
}

void CliChild::carry_out(const order::CloseChildInput& order) {
  if (auto* const process = children_.find(order.gen)) process->input().close();
}

void CliChild::carry_out(const order::ReleaseChild& order) { children_.release(order.gen); }

}  // namespace sitter
