#include "io/cli_backend.hpp"

#include <utility>
#include <variant>

#include "io/system/file_descriptor.hpp"
#include "io/trace.hpp"
#include "sitter/cli.hpp"

namespace sitter {

CliBackend::CliBackend(const Parts& parts, Options options)
    : Backend(parts),
      server_(std::move(options.server)),
      description_file_(std::move(options.description_file)) {}

void CliBackend::handle_timeout(Now now) {
  now_ = now;
  server_.handle_timeout(now);
  carry_out_all();
}

bool CliBackend::takes(const Order& order) {
  if (std::holds_alternative<order::SweepImage>(order)) {
    // Others may use the same tool.
    events_.on_fact(fact::ImageSwept{});
    return true;
  }
  // The description that is read now is that of these files.
  if (std::holds_alternative<order::StartChild>(order)) children_.note_files();
  return give(server_, order);
}

ChildProcess::Events CliBackend::events_of(const Children::Number& gen) {
  ChildProcess::Events events = Backend::events_of(gen);
  if (!is_run(*gen)) return events;
  const auto tell = [this](const CliFact& fact) { turn([&] { take(fact); }); };
  // All bytes of the stdout are the result, so they come as they are, and no line is looked for.
  events.on_output = [](LineFramer& framer) {
    while (framer.next()) continue;
  };
  events.on_output_bytes = [=, this](std::string_view bytes) {
    turn([&] {
      take(fact::RunOutput{*gen, bytes});
      tell_moved(*gen);
    });
  };
  events.on_output_end = [=](LineFramer&) { tell(fact::ChildOutputEnded{*gen}); };
  events.on_input_moved = [=, this] { turn([&] { children_.end_run_input(*gen); }); };
  return events;
}

void CliBackend::on_process(const Fact& fact) {
  // An orphan may have belonged to a run, and to a build.
  const bool is_orphan = std::holds_alternative<fact::OrphanEnded>(fact);
  if (is_orphan) take(fact::OrphanEnded{});
  if (is_orphan || !give(server_, fact)) Backend::on_process(fact);
}

void CliBackend::take(const CliFact& fact) {
  server_.handle(fact, now_);
  carry_out_all();
}

void CliBackend::carry_out_all() {
  while (const CliOrder* const polled = server_.poll_order()) {
    if (log_.is_trace()) log_.trace(to_text(*polled, log_.secrets()));
    if (const auto* const read = std::get_if<order::ReadDescription>(polled)) {
      server_.handle(read_description(read->gen), now_);
    } else if (const auto fact = children_.carry_out(*polled, now_.wall)) {
      if (log_.is_trace()) log_.trace(to_text(*fact, log_.secrets()));
      on_process(*fact);
    }
  }
}

fact::DescriptionRead CliBackend::read_description(Generation gen) const {
  fact::DescriptionRead fact{gen, {}};
  if (auto text = read_whole_file(description_file_, limits::kRunOutputMax, fact.problem)) {
    fact.text = *std::move(text);
  }
  return fact;
}

}  // namespace sitter
