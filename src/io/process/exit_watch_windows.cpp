#include <boost/asio/io_context.hpp>
#include <boost/asio/windows/object_handle.hpp>
#include <utility>

#include "io/process/exit_watch.hpp"
#include "io/stream/event_loop.hpp"
#include "io/system/windows.hpp"

namespace sitter {

struct ExitWatch::State {
  State(EventLoop& loop, windows::Handle process, std::function<void()> on_exit)
      : object(loop.executor(), process.release()) {
    object.async_wait([told = std::move(on_exit)](boost::system::error_code error) {
      if (!error) told();
    });
  }

  boost::asio::windows::object_handle object;
};

std::unique_ptr<ExitWatch> ExitWatch::of(long pid, EventLoop& loop, std::function<void()> on_exit) {
  windows::Handle process(OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(pid)));
  if (!process.is_open()) return nullptr;
  return std::unique_ptr<ExitWatch>(
      new ExitWatch(std::make_unique<State>(loop, std::move(process), std::move(on_exit))));
}

ExitWatch::ExitWatch(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExitWatch::~ExitWatch() = default;

}  // namespace sitter
