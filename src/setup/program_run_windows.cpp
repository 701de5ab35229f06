#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "io/process/launch_plan.hpp"
#include "io/system/child_windows.hpp"
#include "setup/program_run.hpp"

namespace sitter::setup {
namespace {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::vector<std::string> environment_of_tool() {
  std::vector<std::string> entries = own_environment();
  for (const std::string_view added : kToolVariables) {
    std::erase_if(entries,
                  [&](const std::string& each) { return name_of(each) == name_of(added); });
    entries.emplace_back(added);
  }
  return entries;
}

bool has_ended(const windows::StartedChild& child) {
  return WaitForSingleObject(child.process.get(), 0) == WAIT_OBJECT_0;
}

ProgramRun read_until_end(const windows::StartedChild& child, windows::Handle pipe,
                          std::chrono::milliseconds time, ProgramRun::Kind kind) {
  windows::PipeEnd from(std::move(pipe));
  const auto deadline = std::chrono::steady_clock::now() + time;
  ProgramRun run;
  bool is_over = false;
  while (!run.is_late && !run.is_too_long) {
    from.begin_read();
    const std::array<HANDLE, 2> waits = {child.process.get(), from.done()};
    if (!is_over) {
      WaitForMultipleObjects(from.is_busy() ? 2 : 1, waits.data(), FALSE,
                             static_cast<DWORD>(kProgramRound.count()));
    }
    const std::size_t before = run.output.size();
    from.read_on(run.output);
    if (is_over && run.output.size() == before) break;
    if (!is_over && has_ended(child)) {
      is_over = true;
      if (kind == ProgramRun::Kind::tool) TerminateJobObject(child.job.get(), 1);
    }
    // One that has ended was in time, however late this process looks.
    run.is_late = !is_over && std::chrono::steady_clock::now() >= deadline;
    run.is_too_long = run.output.size() > kProgramOutputMax;
  }
  if (!is_over) TerminateJobObject(child.job.get(), 1);
  DWORD code = 1;
  WaitForSingleObject(child.process.get(), INFINITE);
  GetExitCodeProcess(child.process.get(), &code);
  run.is_failed = code != 0;
  return run;
}

}  // namespace

ProgramRun run_in(const std::string& folder, const Words& words, ProgramRun::Kind kind,
                  std::chrono::milliseconds time) {
  const bool is_tool = kind == ProgramRun::Kind::tool;
  auto pipe = windows::open_child_pipe(windows::ChildPipeKind::output);
  const windows::Handle nothing = windows::open_nothing();
  if (!pipe || !nothing.is_open()) {
    throw Failure{fmt::format("{} cannot be started: the system has no pipe left", words.front())};
  }
  windows::ChildStart start{.program = words.front(), .words = words, .cwd = folder};
  if (is_tool) start.environment = environment_of_tool();
  start.input = nothing.get();
  start.output = pipe->theirs.get();
  start.error = is_tool ? nothing.get() : pipe->theirs.get();
  start.ends_with_job = is_tool;
  auto started = windows::start_child(start);
  if (const auto* const failure = std::get_if<windows::StartFailure>(&started)) {
    throw Failure{fmt::format("{} cannot be started: {}", words.front(), failure->reason)};
  }
  pipe->theirs.close();
  return read_until_end(std::get<windows::StartedChild>(started), std::move(pipe->ours), time,
                        kind);
}

}  // namespace sitter::setup
