#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <stdexcept>

#include "demo/interruption.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

// A handler has no arguments of its own, and runs in a thread of its own.
windows::Handle signal_event;
std::atomic<int> last_signal = 0;

BOOL WINAPI on_event(DWORD event) {
  const bool is_key = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  last_signal = is_key ? SIGINT : SIGTERM;
  SetEvent(signal_event.get());
  // When the window is closed, the program ends with the return, and at the latest after some
  // seconds (HandlerRoutine).
  if (!is_key) Sleep(INFINITE);
  return TRUE;
}

}  // namespace

Interruption::Interruption() {
  signal_event = windows::Handle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!signal_event.is_open()) throw std::runtime_error("the system has no event left");
  SetConsoleCtrlHandler(on_event, TRUE);
}

Interruption::~Interruption() {
  SetConsoleCtrlHandler(on_event, FALSE);
  signal_event.close();
}

void Interruption::wait(std::chrono::milliseconds time) {
  const auto limit = static_cast<DWORD>(std::max<std::int64_t>(time.count(), 0));
  if (WaitForSingleObject(signal_event.get(), limit) == WAIT_OBJECT_0) {
    ResetEvent(signal_event.get());
    throw Interrupted{last_signal};
  }
}

}  // namespace sitter
