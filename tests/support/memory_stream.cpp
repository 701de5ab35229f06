#include "support/memory_stream.hpp"

#include <utility>

namespace sitter::testing {

struct MemoryConnection::State {
  ByteStream::Events events;
  std::string written;
  std::string waiting;
  std::size_t queued = 0;
  int writes = 0;
  bool is_in_use = false;
  bool is_paused = false;
  bool is_quiet = true;
};

class MemoryConnection::Near : public ByteStream {
 public:
  explicit Near(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Near() override { state_->is_in_use = false; }

  void write(std::string_view bytes) override {
    state_->written += bytes;
    ++state_->writes;
  }
  std::size_t queued() const override { return state_->queued; }
  void set_paused(bool paused) override { state_->is_paused = paused; }
  bool is_quiet() override { return state_->is_quiet && state_->waiting.empty(); }
  std::string take_arrived() override { return std::exchange(state_->waiting, {}); }

 private:
  std::shared_ptr<State> state_;
};

MemoryConnection::MemoryConnection() : state_(std::make_shared<State>()) {}
MemoryConnection::~MemoryConnection() = default;

std::function<std::unique_ptr<ByteStream>(ByteStream::Events)> MemoryConnection::near() {
  return [state = state_](ByteStream::Events events) {
    *state = {};
    state->events = std::move(events);
    state->is_in_use = true;
    return std::make_unique<Near>(state);
  };
}

void MemoryConnection::open() {
  if (state_->is_in_use) state_->events.on_opened();
}

void MemoryConnection::deliver(std::string_view bytes) {
  state_->waiting += bytes;
  if (!state_->is_in_use || state_->is_paused || state_->waiting.empty()) return;
  state_->events.on_bytes(std::exchange(state_->waiting, {}));
}

void MemoryConnection::arrive(std::string_view bytes) { state_->waiting += bytes; }

void MemoryConnection::close(const std::string& reason) {
  if (state_->is_in_use) state_->events.on_closed(reason);
}

std::string MemoryConnection::take_written() { return std::exchange(state_->written, {}); }
int MemoryConnection::writes() const { return state_->writes; }
bool MemoryConnection::is_in_use() const { return state_->is_in_use; }
bool MemoryConnection::is_paused() const { return state_->is_paused; }
void MemoryConnection::set_quiet(bool quiet) { state_->is_quiet = quiet; }
void MemoryConnection::set_queued(std::size_t queued) { state_->queued = queued; }

}  // namespace sitter::testing
