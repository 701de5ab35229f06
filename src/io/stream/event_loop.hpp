#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "sitter/time.hpp"

namespace boost::asio {
class any_io_executor;
class io_context;
}  // namespace boost::asio

namespace sitter {

/// The loop of the one thread. Timers, signals and writes wait in its `io_context`, and the readers
/// get a turn after each of them. The descriptors
/// that are read for every message are watched outside of it: Asio tries each read once more before
/// it waits, which is one of four system calls on the path of a message.
class EventLoop {
 public:
  /// Reads one descriptor.
  class Reader {
   public:
    enum class Seen : std::uint8_t {
      filled,   ///< as many bytes as there was room for
      partly,   ///< fewer bytes, or the end
      nothing,  ///< EAGAIN
    };

    /// There may be something to read. Reads once.
    virtual Seen on_readable() = 0;

   protected:
    ~Reader() = default;
  };

  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  /// For the objects whose events the loop calls.
  boost::asio::any_io_executor executor();
  boost::asio::io_context& io() { return io_; }

  /// Calls the reader whenever there is something to read or the end is reached, until `forget`. A
  /// pipe or a socket must be non-blocking. Until `forget`, the descriptor must stay open and the
  /// reader must stay alive.
  void watch(int descriptor, Reader& reader);
  /// May also be called from within `on_readable`. Harmless if the reader is not watched.
  void forget(Reader& reader);
  /// Pauses or resumes a reader. On Linux, the reader is called in spite of a pause once the other
  /// side has hung up (epoll(7), EPOLLHUP). Elsewhere the end is noticed after the pause.
  void set_paused(Reader& reader, bool paused);

  /// Whether nothing had come for the reader when the loop looked last, and nothing else was called
  /// since. False if the loop does not know.
  bool knows_as_quiet(const Reader& reader);

  /// The time. A reader that asks more than once gets the time at which it was called.
  Instant now() const { return called_at_ ? *called_at_ : Instant::clock::now(); }

  /// Calls a function whose time has come. What has come for the readers until now is read before,
  /// as of the same time: nothing that has arrived is late for a deadline. Must not be called from
  /// within a reader.
  template <class Due>
  void call_due(Due due) {
    called_at_ = Instant::clock::now();
    read_pending();
    due();
    called_at_.reset();
  }

  /// Calls the function from the loop, soon. A function that posts itself again delays no event by
  /// more than one call.
  void post(std::function<void()> function);

  /// On Windows: calls the function in place of the loop, from a thread that has waited for what no
  /// loop can wait for. False if the loop does not run, or has something to do.
  bool call_in_turn(const std::function<void()>& function);

  /// Returns after `stop`.
  void run();
  void stop();

 private:
  struct Watched;
  struct System;

  Watched* find(const Reader& reader);
  void read_pending();
  Reader::Seen call(Reader& reader) {
    const bool is_due = called_at_.has_value();
    if (!is_due) called_at_ = Instant::clock::now();
    const Reader::Seen seen = reader.on_readable();
    if (!is_due) called_at_.reset();
    return seen;
  }

  /// How often a reader is asked before a deadline, as long as it fills its room: enough for what a
  /// pipe or a socket holds, and an end for what is written on and on.
  static constexpr int kPendingReadsMax = 128;

  // This member comes before the context, since posted functions that are never called may own
  // readers.
  std::unique_ptr<System> system_;
  /// Set while a reader, or a function whose time has come, is called.
  std::optional<Instant> called_at_;
  std::unique_ptr<boost::asio::io_context> context_;
  boost::asio::io_context& io_ = *context_;
};

}  // namespace sitter
