#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/tool_server/call_result.hpp"
#include "core/tool_server/cli_server.hpp"
#include "core/wire/method.hpp"
#include "core/wire/reply.hpp"

// The runs of the tool.

namespace sitter {
namespace {

/// How many progress notifications a call gets per second for what the tool writes to stderr.
constexpr int kRunProgressPerSecond = 4;

/// A tool reads no more at the end of its stdin, so that is no first rung.
constexpr ChildLifecycle::Ladder kLadder{Milliseconds::zero(), limits::kRunGrace,
                                         limits::kRunGrace};

constexpr std::size_t kProgressMax = 500;  // bytes of a line

}  // namespace

Run* CliServer::find_run(Generation number) {
  const auto found = std::find_if(runs_.begin(), runs_.end(),
                                  [&](const Run& run) { return run.life.gen() == number; });
  return found == runs_.end() ? nullptr : &*found;
}

Run& CliServer::add_run(Generation child) {
  return runs_.emplace_back(--last_run_, child, now_, options_.end_words);
}

/// Begins the calls that have waited longest, as many as may run at once.
void CliServer::begin_waiting() {
  if (waits_for_files_ && !is_due(waits_for_files_, now_)) return;
  waits_for_files_.reset();
  auto going =
      static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), [](const Run& run) {
        return !run.is_waiting && !run.is_description();
      }));
  for (Run& run : runs_) {
    if (going >= options_.calls_max) return;
    if (!run.is_waiting) continue;
    begin(run);
    ++going;
  }
}

void CliServer::begin(Run& run) {
  run.is_waiting = false;
  // A busy file is tried again for a while from now on, and not from the call on.
  run.life = ChildLifecycle(run.life.gen(), now_, options_.end_words);
  run.limit = now_.steady + run.timeout;
  // What has ended is released before.
  out_.push(order::StartChild{run.life.gen()});
}

void CliServer::stop(Run& run, std::string why) {
  if (run.stopped.empty()) run.stopped = std::move(why);
  if (run.is_waiting) {
    runs_.remove_if([&](const Run& one) { return &one == &run; });
    return;
  }
  run.life.take_down(EndReason::shut_down, {}, kLadder, now_, out_);
}

void CliServer::end_runs_of(Generation child) {
  runs_.remove_if([&](const Run& run) { return run.child == child && run.is_waiting; });
  parked_.remove_if([&](const Parked& parked) { return parked.child == child; });
  for (Run& run : runs_) {
    if (run.child != child) continue;
    run.is_unwanted = true;
    stop(run, "was ended with its server");
  }
}

void CliServer::on(const fact::ChildStarted& fact) {
  Run* const run = find_run(fact.gen);
  if (run == nullptr) return;
  // No other start follows.
  run->start = {run->start.gen, {}};
  run->life.on_started(fact, now_, out_);
}

void CliServer::on(const fact::ChildStartFailed& fact) {
  Run* const run = find_run(fact.gen);
  if (run == nullptr) return;
  const bool others_go = std::any_of(runs_.begin(), runs_.end(), [&](const Run& other) {
    return &other != run && other.life.pid() != 0;
  });
  if (fact.is_out_of_files && others_go && !run->is_description()) {
    run->is_waiting = true;
    run->limit.reset();
    waits_for_files_ = now_.steady + limits::kBusyFileInterval;
  } else {
    run->life.on_start_failed(fact, now_);
  }
}

void CliServer::on(const fact::RunOutput& fact) {
  if (Run* const run = find_run(fact.gen)) run->output.add(fact.bytes);
}

void CliServer::on(const fact::ChildOutputEnded& fact) {
  // A run may well close its stdout and go on.
  if (Run* const run = find_run(fact.gen)) run->life.on_output_ended(kLadder, now_, out_);
}

void CliServer::on(const fact::ChildErrorLine& fact) {
  Run* const run = find_run(fact.gen);
  if (run == nullptr) return;
  const bool is_overwritten = fact.line.ends_with('\r');
  std::string line = readable(fact.line.substr(0, fact.line.size() - (is_overwritten ? 1 : 0)));
  run->error_lines.add(line);
  tell_progress(*run, line);
  tell_error_line(run->child, run->is_description() ? "description" : run->tool->name,
                  is_overwritten ? line + '\r' : line, fact.bytes_cut);
}

void CliServer::on(const fact::ChildErrorEnded& fact) {
  if (Run* const run = find_run(fact.gen)) run->life.on_error_ended(out_);
}

void CliServer::on(const fact::ChildOutputMoved& fact) {
  if (Run* const run = find_run(fact.gen)) run->life.on_output_moved(now_);
}

void CliServer::on(const fact::ChildExited& fact) {
  Run* const run = find_run(fact.gen);
  if (run == nullptr) return;
  // The run was in time. The wait for what it leaves behind has limits of its own.
  run->limit.reset();
  run->life.on_exited(fact.status, now_, out_);
}

void CliServer::on(const fact::UnitSignalled& fact) {
  for (Signalling& signalling : signallings_) {
    if (signalling.runs.erase(fact.gen) == 0) continue;
    signalling.answer.processes.insert(signalling.answer.processes.end(), fact.processes.begin(),
                                       fact.processes.end());
    break;
  }
  if (Run* const run = find_run(fact.gen)) run->life.on_unit_signalled(fact, now_, out_);
}

void CliServer::on(const fact::OrphanEnded&) {
  for (Run& run : runs_) run.life.on_orphan_ended(out_);
}

/// Nobody answers for a run that is over.
void CliServer::end_signalling(Generation run) {
  for (Signalling& signalling : signallings_) signalling.runs.erase(run);
}

/// The lines that a tool writes to its stderr say how far it is.
void CliServer::tell_progress(Run& run, std::string_view line) {
  if (run.caller.progress_token.empty() || run.is_unwanted || now_.steady < run.next_progress)
    return;
  run.next_progress = now_.steady + Milliseconds(1000) / kRunProgressPerSecond;
  tell_line(
      run.child,
      notification_line(method_name(Method::progress),
                        fmt::format(R"json({{"progressToken":{},"progress":{},"message":{}}})json",
                                    run.caller.progress_token, ++run.progress_count,
                                    json_string(brief(line, kProgressMax)))));
}

/// The run is over: answers its call.
void CliServer::finish(Run& run) {
  if (run.is_unwanted) return;
  const ChildEnd end = run.life.end(true);
  if (end.reason == EndReason::not_executed) {
    answer(run.child, run.caller,
           tool_text(fmt::format("[mcp-sitter] `{}` could not be run: {}", one_line(run.tool->name),
                                 end.why),
                     true));
    return;
  }
  RunOutcome outcome{run.output, run.error_lines.lines(), end.status, run.stopped};
  if (end.reason == EndReason::given_up && outcome.stopped.empty()) outcome.stopped = end.why;
  answer(run.child, run.caller, call_result(*run.tool, outcome));
}

}  // namespace sitter
