#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>

namespace sitter {

/// The loop of the one thread. Timers, signals and writes wait in its `io_context`. On Linux what is
/// read for every message is watched beside it: before each wait Asio tries the read once more or
/// arms the descriptor anew, and that is one system call in four on the way of a message.
class EventLoop {
 public:
  /// Reads one descriptor.
  class Reader {
   public:
    enum class Seen : std::uint8_t {
      filled,   ///< as much as there was room for
      partly,   ///< something, or the end
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

  boost::asio::io_context& io() { return io_; }

  /// Tells the reader whenever it can read, or has come to the end, until it is forgotten. Reading
  /// must not block if the descriptor is a pipe or a socket. The two must stay as they are until
  /// then.
  void watch(int descriptor, Reader& reader);
  /// Also from within `on_readable`. Nothing happens if it is not watched.
  void forget(Reader& reader);
  /// A reader whose other side has hung up is told in spite of a pause.
  void set_paused(Reader& reader, bool paused);

  /// Calls the function from the loop, soon.
  void post(std::function<void()> function);

  /// Returns after `stop`.
  void run();
  void stop() { io_.stop(); }

 private:
  struct Watched;
  struct System;

  Watched* find(const Reader& reader);

  // Before the context, since functions that are posted and never called may own readers.
  std::unique_ptr<System> system_;
  // One thread: no locks are needed.
  boost::asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> runs_until_stopped_{
      io_.get_executor()};
};

}  // namespace sitter
