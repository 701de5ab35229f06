#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <memory>
#include <mutex>
#include <utility>

#include "io/stream/event_loop.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace asio = boost::asio;

// Here a read is begun, and its end is an event of the context. So no reader is watched, and
// `watch` and its companions are not defined.

struct EventLoop::System {
  System() { InitializeCriticalSection(&turn); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() { DeleteCriticalSection(&turn); }

  /// Whoever calls an event holds it, more than once for an event within an event.
  void lock() { EnterCriticalSection(&turn); }
  bool try_lock() { return TryEnterCriticalSection(&turn) != 0; }
  void unlock() { LeaveCriticalSection(&turn); }

  CRITICAL_SECTION turn;
  bool is_running = false;
  asio::any_io_executor executor;
};

namespace {

template <class Property>
concept CanRequire = asio::can_require_v<asio::any_io_executor, Property>;
template <class Property>
concept CanPrefer = asio::can_prefer_v<asio::any_io_executor, Property>;

/// Calls what the context calls in turn with what other threads call. `System` is that of the loop.
template <class System>
class InTurn {
 public:
  InTurn(asio::any_io_executor inner, System& system)
      : inner_(std::move(inner)), system_(&system) {}

  template <class Function>
  void execute(Function function) const {
    inner_.execute([system = system_, function = std::move(function)]() mutable {
      const std::lock_guard turn(*system);
      function();
    });
  }

  template <class Property>
  auto query(const Property& property) const
      -> decltype(asio::query(std::declval<const asio::any_io_executor&>(), property)) {
    return asio::query(inner_, property);
  }
  template <CanRequire Property>
  InTurn require(const Property& property) const {
    return {asio::require(inner_, property), *system_};
  }
  template <CanPrefer Property>
  InTurn prefer(const Property& property) const {
    return {asio::prefer(inner_, property), *system_};
  }

  friend bool operator==(const InTurn&, const InTurn&) = default;

 private:
  asio::any_io_executor inner_;
  System* system_;
};

}  // namespace

// There is only one thread that runs it, but others post to it.
EventLoop::EventLoop()
    : system_(std::make_unique<System>()), context_(std::make_unique<asio::io_context>(1)) {
  system_->executor = InTurn(io_.get_executor(), *system_);
}
EventLoop::~EventLoop() = default;

asio::any_io_executor EventLoop::executor() { return system_->executor; }

void EventLoop::post(std::function<void()> function) {
  asio::post(executor(), std::move(function));
}

bool EventLoop::call_in_turn(const std::function<void()>& function) {
  const std::unique_lock turn(*system_, std::try_to_lock);
  if (!turn || !system_->is_running) return false;
  function();
  return true;
}

void EventLoop::read_pending() {
  for (int reads = 0; reads < kPendingReadsMax && io_.poll_one() > 0; ++reads) {
  }
}

void EventLoop::run() {
  const auto set_running = [this](bool is_running) {
    const std::lock_guard turn(*system_);
    system_->is_running = is_running;
  };
  // Asio stops a context that has nothing to do.
  const auto runs_until_stopped = asio::make_work_guard(io_);
  set_running(true);
  io_.run();
  set_running(false);
}

void EventLoop::stop() { io_.stop(); }

}  // namespace sitter
