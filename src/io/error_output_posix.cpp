#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "sitter/core/limits.hpp"
#include "sitter/io/error_output.hpp"

namespace sitter {
namespace {

constexpr std::size_t kQueuedMax = limits::kMiB;

/// A stderr that takes nothing for so long at the end is not waited for.
constexpr std::chrono::milliseconds kFlushWait{100};

/// False when nobody will ever read it.
bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Somebody who shares it has made it non-blocking.
      pollfd wait{STDERR_FILENO, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

/// Shared with the thread, which may hang in a write for ever.
struct ErrorOutput::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::string queue;
  std::size_t lost = 0;
  bool is_writing = false;
  bool is_over = false;
};

ErrorOutput::ErrorOutput() : state_(std::make_shared<State>()) {
  // Signals are for the main thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([state = state_] {
    std::unique_lock lock(state->mutex);
    while (true) {
      state->changed.wait(lock, [&] { return !state->queue.empty() || state->is_over; });
      if (state->is_over && state->queue.empty()) return;
      std::string bytes = std::exchange(state->queue, {});
      if (const std::size_t lost = std::exchange(state->lost, 0); lost > 0) {
        bytes += "\n[mcp-sitter] " + std::to_string(lost) +
                 " bytes of stderr were not written: nobody was reading it\n";
      }
      state->is_writing = true;
      lock.unlock();
      const bool is_open = write_all(bytes);
      bytes = {};
      lock.lock();
      state->is_writing = false;
      state->changed.notify_all();
      if (!is_open) state->is_over = true;
      if (!is_open) return;
    }
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ErrorOutput::~ErrorOutput() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, kFlushWait, [&] {
    return state_->is_over || (state_->queue.empty() && !state_->is_writing);
  });
  state_->is_over = true;
  state_->changed.notify_all();
}

void ErrorOutput::write(std::string_view bytes) {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_over) return;
  if (state_->queue.size() + bytes.size() > kQueuedMax) {
    state_->lost += bytes.size();
    return;
  }
  state_->queue.append(bytes);
  state_->changed.notify_all();
}

}  // namespace sitter
