#include <windows.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "input.hpp"
#include "process.hpp"

namespace sitter::fake {
namespace {

constexpr std::size_t kBlockSize = std::size_t{1} << 16;

}  // namespace

/// A read of a pipe has no time limit, so a thread of its own makes it. The thread reads one block
/// each time it is asked to.
struct Input::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_asked = false;  ///< a read is wanted or on its way
  bool has_come = false;  ///< the block below is the result of the last read
  std::vector<char> block;

  void run() {
    std::vector<char> bytes(kBlockSize);
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_asked; });
      lock.unlock();
      const std::size_t count = read_stdin(bytes.data(), bytes.size());
      lock.lock();
      is_asked = false;
      has_come = true;
      block.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
      changed.notify_all();
    }
  }
};

Input::Input() : state_(std::make_shared<State>()) {
  // The thread may wait for input as long as the process lives, and shares what it needs.
  std::thread([state = state_] { state->run(); }).detach();
}

Input::~Input() = default;

bool Input::wait(std::optional<std::chrono::milliseconds> limit) {
  std::unique_lock lock(state_->mutex);
  if (!state_->has_come && !std::exchange(state_->is_asked, true)) state_->changed.notify_all();
  const auto has_come = [&] { return state_->has_come; };
  if (limit) return state_->changed.wait_for(lock, *limit, has_come);
  state_->changed.wait(lock, has_come);
  return true;
}

std::size_t Input::read(char* bytes, std::size_t size) {
  wait(std::nullopt);
  const std::scoped_lock lock(state_->mutex);
  const std::size_t count = std::min(size, state_->block.size());
  std::memcpy(bytes, state_->block.data(), count);
  state_->block.erase(state_->block.begin(),
                      state_->block.begin() + static_cast<std::ptrdiff_t>(count));
  state_->has_come = !state_->block.empty();
  return count;
}

std::size_t read_stdin(char* bytes, std::size_t size) {
  // Not by the C runtime, whose descriptor would be locked while the read waits.
  DWORD count = 0;
  const auto most = static_cast<DWORD>(std::min(size, std::size_t{1} << 30));
  if (!ReadFile(GetStdHandle(STD_INPUT_HANDLE), bytes, most, &count, nullptr)) return 0;
  return count;
}

void close_stdin() { close_descriptor(kStdin); }

}  // namespace sitter::fake
