#include <utility>

#include "io/process/exit_watch.hpp"
#include "io/stream/event_loop.hpp"
#include "io/system/posix.hpp"

namespace sitter {

struct ExitWatch::State final : EventLoop::Reader {
  State(EventLoop& of, FileDescriptor readable, std::function<void()> told)
      : loop(of), exit(std::move(readable)), on_exit(std::move(told)) {
    loop.watch(exit.number(), *this);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { loop.forget(*this); }

  Seen on_readable() override {
    loop.forget(*this);
    on_exit();
    return Seen::nothing;
  }

  EventLoop& loop;
  FileDescriptor exit;
  std::function<void()> on_exit;
};

std::unique_ptr<ExitWatch> ExitWatch::of(long pid, EventLoop& loop, std::function<void()> on_exit) {
  FileDescriptor exit = platform::exit_of(pid);
  if (!exit.is_open()) return nullptr;
  return std::unique_ptr<ExitWatch>(
      new ExitWatch(std::make_unique<State>(loop, std::move(exit), std::move(on_exit))));
}

ExitWatch::ExitWatch(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExitWatch::~ExitWatch() = default;

}  // namespace sitter
