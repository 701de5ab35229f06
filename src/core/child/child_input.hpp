#pragma once

#include <optional>

#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// A child that takes nothing for this long while its queue is full is not merely slow.
inline constexpr Milliseconds kDeafAfter{1000};

}  // namespace limits

/// Whether a child takes what is written to it.
///
///     open <--> full --> deaf
///       ^----------------/
class ChildInput {
 public:
  bool is_open() const { return state_ == State::open; }
  /// The queue to the child has reached its bound.
  bool is_full() const { return state_ == State::full; }
  /// The child has taken nothing for `limits::kDeafAfter` while its queue was full.
  bool is_deaf() const { return state_ == State::deaf; }

  void on_full(Now now) {
    if (!is_open()) return;
    state_ = State::full;
    deaf_at_ = now.steady + limits::kDeafAfter;
  }
  /// The child has taken a part of a queue that is still full.
  void on_moved(Now now) {
    if (is_full()) deaf_at_ = now.steady + limits::kDeafAfter;
  }
  void on_drained() {
    state_ = State::open;
    deaf_at_.reset();
  }
  void on_timeout() {
    state_ = State::deaf;
    deaf_at_.reset();
  }
  std::optional<Instant> deadline() const { return deaf_at_; }

 private:
  enum class State { open, full, deaf };

  State state_ = State::open;
  std::optional<Instant> deaf_at_;
};

}  // namespace sitter
