#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <variant>

#include "io/system/child_windows.hpp"
#include "io/system/platform.hpp"
#include "probe/bridge_process.hpp"

namespace sitter {

using windows::PipeEnd;
struct BridgeProcess::System {
  System(windows::StartedChild child, windows::Handle input_end, windows::Handle output_end,
         windows::Handle error_end)
      : bridge(std::move(child)),
        input(std::move(input_end)),
        output(std::move(output_end)),
        error(std::move(error_end)) {}

  windows::StartedChild bridge;
  PipeEnd input;
  PipeEnd output;
  PipeEnd error;
};

BridgeProcess::BridgeProcess(const Start& start) {
  using windows::ChildPipeKind;
  auto input = windows::open_child_pipe(ChildPipeKind::input);
  auto output = windows::open_child_pipe(ChildPipeKind::output);
  auto error = windows::open_child_pipe(ChildPipeKind::output);
  if (!input || !output || !error) throw std::runtime_error("the system has no pipe left");
  windows::ChildStart child{.program = platform::own_program(), .words = start.words};
  child.words.insert(child.words.begin(), child.program);
  child.cwd = start.cwd;
  child.environment = start.environment;
  child.input = input->theirs.get();
  child.output = output->theirs.get();
  child.error = error->theirs.get();
  auto started = windows::start_child(child);
  if (const auto* const failure = std::get_if<windows::StartFailure>(&started)) {
    throw std::runtime_error("mcp-sitter could not be started: " + failure->reason);
  }
  system_ = std::make_unique<System>(std::get<windows::StartedChild>(std::move(started)),
                                     std::move(input->ours), std::move(output->ours),
                                     std::move(error->ours));
}

BridgeProcess::~BridgeProcess() = default;

long BridgeProcess::pid() const { return system_->bridge.pid; }

void BridgeProcess::move(Texts& texts, std::chrono::milliseconds wait) {
  auto& [bridge, input, output, error] = *system_;
  if (!texts.input.empty() && !input.is_open()) texts.input.clear();
  if (!texts.input.empty()) input.begin_write(texts.input);
  std::array<HANDLE, 3> waits{};
  DWORD count = 0;
  for (PipeEnd* const end : {&output, &error}) {
    end->begin_read();
    if (end->is_busy()) waits[count++] = end->done();
  }
  if (input.is_busy()) waits[count++] = input.done();
  const auto limit = static_cast<DWORD>(std::max<std::int64_t>(wait.count(), 0));
  if (count == 0) {
    Sleep(limit);
  } else {
    WaitForMultipleObjects(count, waits.data(), FALSE, limit);
  }
  output.read_on(texts.output);
  error.read_on(texts.error);
  texts.input.erase(0, input.moved().size());
}

bool BridgeProcess::may_write() const { return system_->output.is_open(); }

void BridgeProcess::close_input() { system_->input.close(); }

std::optional<int> BridgeProcess::exit_code() {
  const HANDLE process = system_->bridge.process.get();
  DWORD code = 0;
  if (WaitForSingleObject(process, 0) != WAIT_OBJECT_0) return std::nullopt;
  GetExitCodeProcess(process, &code);
  return static_cast<int>(code);
}

void BridgeProcess::kill() { TerminateProcess(system_->bridge.process.get(), 1); }

}  // namespace sitter
