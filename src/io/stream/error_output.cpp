#include "io/stream/error_output.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "io/stream/error_stream.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// As much as is kept of the child's stderr. The bytes wait only if the client does not read them,
/// so they are not worth more memory.
constexpr std::size_t kQueuedMax = limits::kMiB;

/// At the end, the bridge waits no longer than this for a stderr that takes nothing: after SIGTERM
/// there is hardly any time.
constexpr std::chrono::milliseconds kFlushWait{20};

}  // namespace

/// The thread shares this object, since the thread may hang in a write for ever.
struct ErrorOutput::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::string queue;
  std::size_t lost = 0;
  bool is_writing = false;
  bool is_over = false;

  void write_queue();
};

/// The function of the thread: writes until nothing is left, and ends. While nothing is written
/// there is no second thread, because a second thread makes every system call of the first one a
/// little slower.
void ErrorOutput::State::write_queue() {
  std::unique_lock lock(mutex);
  while (!queue.empty()) {
    std::string bytes = std::exchange(queue, {});
    if (const std::size_t dropped = std::exchange(lost, 0); dropped > 0) {
      bytes += "\n[mcp-sitter] " + std::to_string(dropped) +
               " bytes of stderr were not written: nobody was reading it\n";
    }
    lock.unlock();
    const bool is_open = write_to_stderr(bytes);
    lock.lock();
    if (!is_open) {
      is_over = true;
      break;
    }
  }
  is_writing = false;
  changed.notify_all();
}

ErrorOutput::ErrorOutput() : state_(std::make_shared<State>()) {}

ErrorOutput::~ErrorOutput() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, kFlushWait, [&] { return !state_->is_writing; });
  state_->is_over = true;
}

void ErrorOutput::write(std::string_view bytes) {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_over) return;
  if (state_->queue.size() + bytes.size() > kQueuedMax) {
    state_->lost += bytes.size();
    return;
  }
  state_->queue.append(bytes);
  if (std::exchange(state_->is_writing, true)) return;
  try {
    start_thread([state = state_] { state->write_queue(); });
  } catch (const std::system_error&) {
    // The system allows no more threads at this moment; the next write tries again.
    state_->is_writing = false;
  }
}

}  // namespace sitter
