#include "core/tool_server/cli_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/text.hpp"

namespace sitter {

void CliServer::handle(const order::StartChild& order, Now now) {
  now_ = now;
  read(children_.emplace_back(Child{order.gen}));
  settle();
}

void CliServer::handle(const order::CloseChildInput& order, Now now) {
  now_ = now;
  Child* const child = find_child(order.gen);
  if (child == nullptr) return;
  const bool has_started = child->state != State::reading;
  child->state = State::leaving;
  if (has_started) {
    end_runs_of(order.gen);
  } else {
    // The order comes again to a child that has started.
    tell(fact::ChildStarted{order.gen, 0});
  }
  settle();
}

void CliServer::handle(const order::SignalUnit& order, Now now) {
  now_ = now;
  Signalling& signalling = signallings_.emplace_back();
  signalling.answer.gen = order.gen;
  for (const Run& run : runs_) {
    if (run.child != order.gen || run.is_waiting || run.life.is_over()) continue;
    signalling.runs.insert(run.life.gen());
    // A run that is being ended has had its SIGTERM, and some tools take a second one for haste.
    const bool had_sigterm =
        order.how == order::SignalUnit::How::terminate && run.life.taken_down_for();
    out_.push(
        order::SignalUnit{run.life.gen(), had_sigterm ? order::SignalUnit::How::look : order.how});
  }
  settle();
}

void CliServer::handle(const order::ReleaseChild& order, Now now) {
  now_ = now;
  for (auto run = runs_.begin(); run != runs_.end();) {
    if (run->child != order.gen) {
      ++run;
      continue;
    }
    if (!run->is_waiting && !run->life.is_over()) out_.push(order::ReleaseChild{run->life.gen()});
    end_signalling(run->life.gen());
    run = runs_.erase(run);
  }
  parked_.remove_if([&](const Parked& parked) { return parked.child == order.gen; });
  remove_child(order.gen);
  settle();
}

void CliServer::handle(const CliFact& fact, Now now) {
  now_ = now;
  std::visit([this](const auto& one) { on(one); }, fact);
  settle();
}

void CliServer::handle_timeout(Now now) {
  now_ = now;
  for (Run& run : runs_) {
    if (is_due(run.limit, now)) {
      run.limit.reset();
      stop(run, run.is_description()
                    ? fmt::format("has not ended within {}", duration_text(run.timeout))
                    : fmt::format("was ended, since it had not ended after {} s (--call-timeout, "
                                  "or the member timeout in the description)",
                                  std::chrono::duration<double>(run.timeout).count()));
    }
    run.life.on_timeout(now, out_);
  }
  parked_.remove_if([&](const Parked& parked) {
    if (now.steady < parked.until) return false;
    answer_unknown(parked);
    return true;
  });
  settle();
}

std::optional<Instant> CliServer::next_timeout() const {
  std::optional<Instant> first;
  for (const Run& run : runs_) {
    earlier(first, run.limit);
    earlier(first, run.life.deadline());
  }
  for (const Parked& parked : parked_) earlier(first, parked.until);
  if (waits_for_files_) earlier(first, *waits_for_files_);
  return first;
}

const Fact* CliServer::poll_fact() {
  Told* const told = told_.poll();
  if (told == nullptr) return nullptr;
  if (auto* const line = std::get_if<fact::ChildLine>(&told->fact)) line->line = told->line.line();
  if (auto* const line = std::get_if<fact::ChildErrorLine>(&told->fact)) {
    line->line = told->line.text();
  }
  return &told->fact;
}

CliServer::Child* CliServer::find_child(Generation gen) {
  const auto found = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& child) { return child.gen == gen; });
  return found == children_.end() ? nullptr : &*found;
}

void CliServer::remove_child(Generation gen) {
  children_.remove_if([&](const Child& child) { return child.gen == gen; });
}

/// Does what must hold whatever has happened: what is over is answered, what waits has its turn,
/// and a child that leaves is over when its runs are.
void CliServer::settle() {
  for (auto run = runs_.begin(); run != runs_.end();) {
    if (!run->life.is_over()) {
      ++run;
      continue;
    }
    end_signalling(run->life.gen());
    Run& over = *run;
    if (over.is_description()) {
      finish_description(over);
    } else {
      finish(over);
    }
    run = runs_.erase(run);
    waits_for_files_.reset();
  }
  begin_waiting();
  for (auto one = signallings_.begin(); one != signallings_.end();) {
    if (!one->runs.empty()) {
      ++one;
      continue;
    }
    tell(std::move(one->answer));
    one = signallings_.erase(one);
  }
  for (auto child = children_.begin(); child != children_.end();) {
    const bool is_over = child->state == State::leaving &&
                         std::none_of(runs_.begin(), runs_.end(),
                                      [&](const Run& run) { return run.child == child->gen; });
    if (!is_over) {
      ++child;
      continue;
    }
    tell(fact::ChildOutputEnded{child->gen});
    tell(fact::ChildErrorEnded{child->gen});
    tell(fact::ChildExited{child->gen, {}});
    child = children_.erase(child);
  }
  while (Order* const order = out_.poll()) {
    if (const auto* const start = std::get_if<order::StartChild>(order)) {
      if (const Run* const run = find_run(start->gen)) cli_orders_.push_back(run->start);
    } else if (const auto* const signal = std::get_if<order::SignalUnit>(order)) {
      cli_orders_.push_back(*signal);
    } else if (const auto* const close = std::get_if<order::CloseChildInput>(order)) {
      cli_orders_.push_back(*close);
    } else if (const auto* const release = std::get_if<order::ReleaseChild>(order)) {
      cli_orders_.push_back(*release);
    }
  }
}

// ---- the description

void CliServer::read(Child& child) {
  if (options_.description_arguments.empty()) {
    cli_orders_.push_back(order::ReadDescription{child.gen});
    return;
  }
  Run& run = add_run(child.gen);
  run.start.arguments = options_.description_arguments;
  run.timeout = limits::kDescriptionTimeout;
  // A call may wait for the end of a run that waits for a description.
  begin(run);
}

void CliServer::on(const fact::DescriptionRead& fact) {
  if (fact.problem.empty()) {
    on_description(fact.gen, fact.text);
  } else {
    fail_start(fact.gen,
               fmt::format("{} could not be read: {}", options_.description_source, fact.problem));
  }
}

void CliServer::on_description(Generation gen, std::string_view text) {
  Child* const child = find_child(gen);
  if (child == nullptr || child->state != State::reading) return;
  auto read = read_description(text, options_.tool_names);
  if (const auto* const complaint = std::get_if<Complaint>(&read)) {
    fail_start(gen, fmt::format("the description of {} cannot be used: {}",
                                options_.description_source, complaint->text));
    return;
  }
  child->description = std::make_shared<const Description>(std::get<Description>(std::move(read)));
  child->state = State::up;
  tell(fact::ChildStarted{gen, 0});
  for (const std::string& remark : child->description->remarks) {
    tell_error_line(gen, "description", remark);
  }
  call_parked();
}

void CliServer::fail_start(Generation gen, std::string why, bool is_missing) {
  const Child* const child = find_child(gen);
  if (child == nullptr || child->state != State::reading) return;
  remove_child(gen);
  tell(fact::ChildStartFailed{.gen = gen, .reason = std::move(why), .is_missing = is_missing});
  call_parked();
}

void CliServer::finish_description(const Run& run) {
  const ChildEnd end = run.life.end(true);
  const std::string& source = options_.description_source;
  if (end.reason == EndReason::not_executed) {
    fail_start(run.child, end.why, end.is_command_missing);
  } else if (!run.stopped.empty()) {
    fail_start(run.child, fmt::format("{} {}", source, run.stopped));
  } else if (end.status.code != 0 || end.status.by_signal()) {
    fail_start(run.child, fmt::format("{} has failed: {}; the description of a tool that does not "
                                      "describe itself is given with --schema-file",
                                      source, status_words(end.status)));
  } else if (!run.output.is_whole()) {
    fail_start(run.child,
               fmt::format("{} has written {} bytes, and a description may have at most {}", source,
                           run.output.size(), limits::kRunOutputMax));
  } else {
    on_description(run.child, run.output.bytes());
  }
}

}  // namespace sitter
