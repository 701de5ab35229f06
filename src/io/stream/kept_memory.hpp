#pragma once

#include <optional>
#include <utility>

#include "core/wire/line_framer.hpp"
#include "io/stream/timer.hpp"

namespace sitter {

/// Keeps the memory of a long line for the next one, and gives it back after some quiet seconds.
class KeptMemory {
 public:
  KeptMemory(EventLoop& loop, LineFramer& framer) : loop_(loop), framer_(framer) {}

  /// To be called after each read, as long as the stream is open.
  void note_read() {
    if (framer_.keeps_memory()) keep_for_a_while();
  }

  void stop() { timer_.reset(); }

 private:
  static constexpr Milliseconds kKeptFor{2000};

  void keep_for_a_while() {
    if (std::exchange(is_kept_, true)) return;
    framer_.take_long_line_seen();
    if (!timer_) timer_.emplace(loop_, [this] { on_due(); });
    timer_->set(loop_.now() + kKeptFor);
  }

  void on_due() {
    is_kept_ = false;
    if (framer_.take_long_line_seen()) {
      keep_for_a_while();
    } else {
      framer_.release();
    }
  }

  EventLoop& loop_;
  LineFramer& framer_;
  std::optional<Timer> timer_;
  bool is_kept_ = false;
};

}  // namespace sitter
