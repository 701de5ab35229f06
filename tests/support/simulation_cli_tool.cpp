#include "support/simulation_cli_tool.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sitter/cli.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {
namespace {

/// The tools that the client calls.
constexpr std::array<std::string_view, 3> kNames = {"echo", "add", "extra"};

std::string number_of(Generation gen) { return std::to_string(kFirstRun + 1 - gen); }

/// How many milliseconds a signal takes to end a process, and an end to be seen.
constexpr int kSoonMax = 3;

}  // namespace

void CliTool::change() {
  now_ = {++last_version_, {}};
  while (now_.tools.empty()) {
    for (const std::string_view name : kNames) {
      if (!random_.chance(70)) continue;
      const bool is_quick = random_.chance(15);
      now_.tools[std::string(name)] = is_quick ? Milliseconds(1500) : scene_.call_timeout;
    }
  }
}

std::string CliTool::description() const {
  std::string tools;
  for (const auto& [name, timeout] : now_.tools) {
    tools += fmt::format(
        R"json({}{{"name":"{}","description":"version {}","parameters":{{"type":"object",)json"
        R"json("required":["n"],"properties":{{"n":{{"type":"integer"}},)json"
        R"json("x":{{"type":"integer","maximum":{}}}}}}},"cli_command":["run","{}","{}","{{n}}"],)json"
        R"json("stdin":"{{n}}","env":{{"N":"{{n}}"}}{}}})json",
        tools.empty() ? "" : ",", name, now_.version, kXMax, name, now_.version,
        timeout == scene_.call_timeout
            ? ""
            : fmt::format(R"json(,"timeout":{})json",
                          std::chrono::duration<double>(timeout).count()));
  }
  return fmt::format(R"json({{"tools":[{}]}})json", tools);
}

std::string CliTool::described(CliDescribed& described) {
  std::string text = description();
  if (!is_wrong(4)) {
    described = now_;
    return text;
  }
  described = {};
  switch (random_.below(4)) {
    case 0:
      text.pop_back();
      return text;
    case 1:
      return "usage: tool [options]";
    case 2:
      return R"json({"tools":[{"name":"echo"}]})json";
    default:
      return std::string(limits::kRunOutputMax + 1, ' ') + text;
  }
}

void CliTool::take(const order::ReadDescription& order, CliPromises& promises) {
  ways_.story("  server", "reads the description");
  CliDescribed read;
  fact::DescriptionRead fact{order.gen, described(read), {}};
  if (fact.text.size() > limits::kRunOutputMax) fact = {order.gen, "", "it is too large"};
  if (is_wrong(6)) {
    read = {};
    fact = {order.gen, "", "no such file"};
  }
  promises.on_described(order.gen, std::move(read));
  ways_.tell(std::move(fact));
}

void CliTool::take(const order::StartRun& order, CliPromises& promises) {
  ways_.story("  server", fmt::format("starts run {}: {}", number_of(order.gen),
                                      fmt::join(order.arguments, " ")));
  promises.on_start_run(order);
  if (busy_starts_ == 0 && is_wrong(8)) busy_starts_ = random_.between(1, 25);
  const bool is_busy = busy_starts_ > 0;
  if (is_busy) --busy_starts_;
  if (is_busy || is_wrong(10)) {
    promises.on_start_failed(order.gen);
    ways_.tell(fact::ChildStartFailed{
        order.gen, is_busy ? "text file busy" : "no such file", is_busy, false, {}});
    return;
  }
  begin(order, promises);
}

void CliTool::begin(const order::StartRun& order, CliPromises& promises) {
  const bool describes = order.arguments.size() == 1;
  const int mark = describes ? 0 : std::stoi(order.arguments.back());
  std::string text;
  if (describes) {
    CliDescribed read;
    text = described(read);
    promises.on_described(promises.described_child(), std::move(read));
  } else {
    text = run_text(mark, random_);
  }
  CliRun& run = runs_
                    .try_emplace(order.gen, order.gen, mark, std::move(text), random_,
                                 is_behaving_ ? 0 : scene_.faults)
                    .first->second;
  ways_.tell(fact::ChildStarted{order.gen, run.processes.front().pid});
  plan(run, promises);
}

/// What the run does by itself happens in time.
void CliTool::plan(CliRun& run, CliPromises& promises) {
  for (const CliRun::Piece& piece : run.writes) {
    after(run, piece.after, [this, &run, &piece] {
      if (!run.lives() || run.has_output_ended) return;
      run.pipe += piece.bytes;
      if (random_.chance(80)) {
        read(run);
      } else {
        soon(run, [this, &run] { read(run); });
      }
    });
  }
  for (const CliRun::Piece& piece : run.writes_errors) {
    after(run, piece.after, [this, &run, &piece] {
      if (!run.lives() || run.has_error_ended) return;
      ways_.story("run " + number_of(run.gen), "stderr: " + piece.bytes);
      ways_.tell(fact::ChildErrorLine{run.gen, piece.bytes, 0});
    });
  }
  if (run.closes_output_after) {
    after(run, *run.closes_output_after, [this, &run] { end_output(run); });
  }
  if (run.departs_after) {
    after(run, *run.departs_after, [&run] {
      for (const Unit::Process& process : run.processes) {
        if (!process.is_leader && process.lives) run.departed.insert(process.pid);
      }
    });
  }
  if (run.ends_after) {
    after(run, *run.ends_after,
          [this, &run, &promises] { dies(run, run.processes.front(), run.status, promises); });
  }
}

void CliTool::read(CliRun& run) {
  if (run.has_output_ended || run.pipe.empty()) return;
  const std::string bytes = std::exchange(run.pipe, {});
  ways_.story("run " + number_of(run.gen), bytes);
  run.told_output += bytes;
  ways_.tell(fact::RunOutput{run.gen, bytes});
}

void CliTool::end_output(CliRun& run) {
  if (run.has_output_ended) return;
  read(run);
  run.has_output_ended = true;
  ways_.story("run " + number_of(run.gen), "its stdout ends");
  ways_.tell(fact::ChildOutputEnded{run.gen});
}

void CliTool::end_error(CliRun& run) {
  if (std::exchange(run.has_error_ended, true)) return;
  ways_.tell(fact::ChildErrorEnded{run.gen});
}

void CliTool::dies(CliRun& run, Unit::Process& process, ExitStatus status, CliPromises& promises) {
  if (!std::exchange(process.lives, false)) return;
  if (process.is_leader) {
    soon(run, [this, &run, status = std::move(status), &promises] {
      ways_.story("run " + number_of(run.gen),
                  fmt::format("exits with {} {}", status.code, status.signal));
      run.told_status = status;
      promises.on_exited(run.gen);
      ways_.tell(fact::ChildExited{run.gen, status});
    });
  } else if (!run.lives()) {
    soon(run, [this] { ways_.tell(fact::OrphanEnded{}); });
  }
  if (run.are_pipes_held()) return;
  soon(run, [this, &run] { end_output(run); });
  soon(run, [this, &run] { end_error(run); });
}

void CliTool::take(const order::SignalUnit& order, CliPromises& promises) {
  using How = order::SignalUnit::How;
  CliRun* const run = find(order.gen);
  // The shell knows no run that was not started.
  if (run == nullptr) return;
  if (order.how != How::look) {
    ways_.story("  server",
                (order.how == How::kill ? "kills run " : "terminates run ") + number_of(order.gen));
  }
  fact::UnitSignalled fact{order.gen, {}};
  for (Unit::Process& process : run->processes) {
    if (!run->is_there(process)) continue;
    fact.processes.push_back({process.pid, process.is_leader, "tool", "", false});
    const bool ends = (order.how == How::kill && !process.ignores_kill) ||
                      (order.how == How::terminate && !process.ignores_terminate);
    if (!ends) continue;
    const ExitStatus status =
        order.how == How::kill ? ExitStatus{137, "SIGKILL"} : ExitStatus{143, "SIGTERM"};
    soon(*run, [this, run, &process, status, &promises] { dies(*run, process, status, promises); });
  }
  ways_.tell(std::move(fact));
}

/// A run has read its input long before.
void CliTool::take(const order::CloseChildInput&, CliPromises&) {}

void CliTool::take(const order::ReleaseChild& order, CliPromises& promises) {
  CliRun* const run = find(order.gen);
  if (run == nullptr) return;
  ways_.story("  server", "releases run " + number_of(order.gen));
  run->is_released = true;
  promises.on_released(order.gen);
}

void CliTool::kill_one(CliPromises& promises) {
  std::vector<CliRun*> running;
  for (auto& [gen, run] : runs_) {
    if (run.lives() && !run.is_released) running.push_back(&run);
  }
  if (running.empty()) return;
  CliRun& run = *random_.pick(running);
  ways_.story("system", "kill -9 of run " + number_of(run.gen));
  dies(run, run.processes.front(), {137, "SIGKILL"}, promises);
}

void CliTool::after(CliRun& run, Milliseconds time, std::function<void()> event) {
  ways_.after(time, [&run, event = std::move(event)] {
    if (!run.is_released) event();
  });
}

void CliTool::soon(CliRun& run, std::function<void()> event) {
  after(run, Milliseconds(random_.below(kSoonMax + 1)), std::move(event));
}

CliRun* CliTool::find(Generation gen) {
  const auto found = runs_.find(gen);
  return found == runs_.end() || found->second.is_released ? nullptr : &found->second;
}

}  // namespace sitter::sim
