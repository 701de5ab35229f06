#include <unistd.h>

#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "io/stream/kept_memory.hpp"
#include "io/stream/stream_reader.hpp"

namespace sitter {

/// An event that is being handled shares this object, which may outlast the reader.
struct StreamReader::State final : EventLoop::Reader, std::enable_shared_from_this<State> {
  State(EventLoop& of, FileDescriptor read_from, LineFramer source_framer, Events told)
      : loop(of),
        source(std::move(read_from)),
        framer(std::move(source_framer)),
        events(std::move(told)) {}

  Seen on_readable() override {
    const std::span<char> space = framer.space();
    const ssize_t count = read(source.number(), space.data(), space.size());
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Seen::nothing;
    if (count < 0 && errno == EINTR) return Seen::filled;
    const auto self = shared_from_this();
    // Whatever the error was, nothing more will come from there.
    if (count <= 0) {
      close();
      events.on_end(framer);
      return Seen::partly;
    }
    const auto size = static_cast<std::size_t>(count);
    if (events.on_bytes) events.on_bytes({space.data(), size});
    framer.filled(size);
    events.on_read(framer);
    if (source.is_open()) kept.note_read();

    return size == space.size() ? Seen::filled : Seen::partly;
  }

  void close() {
    kept.stop();

    loop.forget(*this);
    source.close();
  }

  EventLoop& loop;
  FileDescriptor source;
  LineFramer framer;
  Events events;
  bool is_paused = false;
  KeptMemory kept{loop, framer};
};

StreamReader::StreamReader(EventLoop& loop, FileDescriptor source, LineFramer framer, Events events)
    : state_(
          std::make_shared<State>(loop, std::move(source), std::move(framer), std::move(events))) {
  loop.watch(state_->source.number(), *state_);
}

StreamReader::~StreamReader() { state_->close(); }

void StreamReader::set_paused(bool paused) {
  if (std::exchange(state_->is_paused, paused) != paused) state_->loop.set_paused(*state_, paused);
}

void StreamReader::begin_with(std::string bytes) {
  if (bytes.empty()) return;
  state_->loop.set_paused(*state_, true);
  state_->loop.post([state = state_, bytes = std::move(bytes)] {
    for (std::string_view rest = bytes; !rest.empty() && state->source.is_open();) {
      const std::span<char> space = state->framer.space();
      const std::size_t size = rest.copy(space.data(), space.size());
      rest.remove_prefix(size);
      if (state->events.on_bytes) state->events.on_bytes({space.data(), size});
      state->framer.filled(size);
      state->events.on_read(state->framer);
    }
    if (state->source.is_open()) state->loop.set_paused(*state, state->is_paused);
  });
}

}  // namespace sitter
