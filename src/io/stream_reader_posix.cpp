#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>
#include <span>
#include <utility>

#include "sitter/io/stream_reader.hpp"

namespace sitter {

using boost::system::error_code;

/// Shared with the read that is under way, which may outlast the reader.
struct StreamReader::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, FileDescriptor source, LineFramer source_framer, Events told)
      : descriptor(io, source.release()),
        framer(std::move(source_framer)),
        events(std::move(told)) {}

  void read() {
    if (is_reading || is_paused || is_over) return;
    is_reading = true;
    space = framer.space();
    descriptor.async_read_some(boost::asio::buffer(space.data(), space.size()),
                               [self = shared_from_this()](error_code error, std::size_t count) {
                                 self->on_read(error, count);
                               });
  }

  void on_read(error_code error, std::size_t count) {
    is_reading = false;
    if (is_over) return;
    // Whatever went wrong, nothing more comes from there.
    if (error) {
      is_over = true;
      events.on_end(framer);
      return;
    }
    if (events.on_bytes) events.on_bytes({space.data(), count});
    framer.filled(count);
    events.on_read(framer);
    read();
  }

  boost::asio::posix::stream_descriptor descriptor;
  LineFramer framer;
  std::span<char> space;
  Events events;
  bool is_reading = false;
  bool is_paused = false;
  bool is_over = false;
};

StreamReader::StreamReader(boost::asio::io_context& io, FileDescriptor source, LineFramer framer,
                           Events events)
    : state_(std::make_shared<State>(io, std::move(source), std::move(framer), std::move(events))) {
  state_->read();
}

StreamReader::~StreamReader() {
  state_->is_over = true;
  error_code ignored;  // the descriptor is gone in any case
  state_->descriptor.close(ignored);
}

void StreamReader::set_paused(bool paused) {
  if (std::exchange(state_->is_paused, paused) && !paused) state_->read();
}

}  // namespace sitter
