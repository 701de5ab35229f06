#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "io/stream/kept_memory.hpp"
#include "io/stream/stream_reader.hpp"
#include "io/stream/transfer_windows.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// As much as one read brings on other systems.
constexpr std::size_t kReadMax = 64 * limits::kKiB;

}  // namespace

/// A read that is under way shares this object, which may outlast the reader.
struct StreamReader::State final : std::enable_shared_from_this<State> {
  State(EventLoop& of, FileDescriptor source, LineFramer source_framer, Events told)
      : loop(of),
        transfer(std::make_unique<Transfer>(of, windows::take_handle(std::move(source)))),
        framer(std::move(source_framer)),
        events(std::move(told)) {}

  void read_next() {
    if (is_reading || is_paused || is_held || !transfer) return;
    is_reading = true;
    transfer->read(bytes, [self = shared_from_this()](bool is_open, std::size_t count) {
      self->on_read(is_open, count);
    });
  }

  void on_read(bool is_open, std::size_t count) {
    deliver({bytes.data(), count});
    // An event may end a pause, and the bytes must stay as they are until all are delivered.
    is_reading = false;
    if (!transfer) return;
    if (is_open) {
      read_next();
    } else {
      close();
      events.on_end(framer);
    }
  }

  void deliver(std::string_view rest) {
    while (!rest.empty() && transfer) {
      const std::span<char> space = framer.space();
      const std::size_t size = rest.copy(space.data(), space.size());
      rest.remove_prefix(size);
      if (events.on_bytes) events.on_bytes({space.data(), size});
      framer.filled(size);
      events.on_read(framer);
    }
    if (transfer) kept.note_read();
  }

  void close() {
    kept.stop();
    transfer.reset();
  }

  EventLoop& loop;
  std::unique_ptr<Transfer> transfer;  // null after the end
  LineFramer framer;
  Events events;
  std::vector<char> bytes = std::vector<char>(kReadMax);
  bool is_reading = false;
  bool is_paused = false;
  bool is_held = false;  // until what comes before all that is read was told
  KeptMemory kept{loop, framer};
};

StreamReader::StreamReader(EventLoop& loop, FileDescriptor source, LineFramer framer, Events events)
    : state_(
          std::make_shared<State>(loop, std::move(source), std::move(framer), std::move(events))) {
  state_->read_next();
}

StreamReader::~StreamReader() { state_->close(); }

void StreamReader::set_paused(bool paused) {
  state_->is_paused = paused;
  state_->read_next();
}

void StreamReader::begin_with(std::string bytes) {
  if (bytes.empty()) return;
  state_->is_held = true;
  state_->loop.post([state = state_, bytes = std::move(bytes)] {
    state->deliver(bytes);
    state->is_held = false;
    state->read_next();
  });
}

}  // namespace sitter
