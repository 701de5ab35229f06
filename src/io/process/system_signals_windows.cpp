#include <functional>
#include <mutex>
#include <utility>

#include "io/process/system_signals.hpp"
#include "io/process/unit_job_windows.hpp"
#include "io/stream/event_loop.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

/// As a shell reports a program that Ctrl-C has ended, and one that was asked to end.
constexpr int kInterrupted = 128 + 2;
constexpr int kTerminated = 128 + 15;

/// The system ends a program whose handler has returned (HandlerRoutine), so the handler waits for
/// the end of the bridge.
constexpr DWORD kEndWait = 5'000;

/// For the threads of the system that call a handler.
std::mutex mutex;
std::function<void(int)> told;

/// Only the main thread calls it.
std::function<void()> child_ended;

BOOL WINAPI on_control(DWORD event) {
  {
    const std::lock_guard lock(mutex);
    if (!told) return FALSE;
    told(event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? kInterrupted : kTerminated);
  }
  const bool ends_anyway = event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT;
  if (ends_anyway) Sleep(kEndWait);
  return TRUE;
}

}  // namespace

struct SystemSignals::State {
  State(EventLoop& of, Events events_told) : loop(of), events(std::move(events_told)) {
    {
      const std::lock_guard lock(mutex);
      told = [this](int exit_code) { loop.post([this, exit_code] { events.on_stop(exit_code); }); };
    }
    SetConsoleCtrlHandler(on_control, TRUE);
    on_leader_ended([](void* self) { static_cast<State*>(self)->tell_child_ended(); }, this);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    on_leader_ended(nullptr, nullptr);
    SetConsoleCtrlHandler(on_control, FALSE);
    const std::lock_guard lock(mutex);
    told = nullptr;
  }

  void tell_child_ended() {
    loop.post([this] { events.on_child_ended(); });
  }

  EventLoop& loop;
  Events events;
};

SystemSignals::SystemSignals(EventLoop& loop, Events events)
    : state_(std::make_unique<State>(loop, std::move(events))) {
  child_ended = [state = state_.get()] { state->tell_child_ended(); };
}

SystemSignals::~SystemSignals() { child_ended = nullptr; }

void signal_child_ended() {
  if (child_ended) child_ended();
}

}  // namespace sitter
