#pragma once

#include <cstddef>
#include <optional>

#include "sitter/limits.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What the client has in flight takes memory, so a client that asks for too much is not read for a
/// while, and then refused: a kill or a cancellation may be what helps.
///
///     none --over the bound--> waiting --deadline--> refused
///      ^---- under it again -----/-------------------/
class Crowd {
 public:
  /// So many bytes are in flight.
  void settle(std::size_t bytes, Now now) {
    if (bytes <= limits::kInFlightBytesMax) {
      state_ = State::none;
      deadline_.reset();
    } else if (state_ == State::none) {
      state_ = State::waiting;
      deadline_ = now.steady + limits::kDeafAfter;
    }
  }

  void on_timeout(Now now) {
    if (!is_due(deadline_, now)) return;
    deadline_.reset();
    state_ = State::refused;
  }
  std::optional<Instant> deadline() const { return deadline_; }

  /// Whether the client is to be read.
  bool reads() const { return state_ != State::waiting; }
  /// Whether no request is passed on.
  bool refuses() const { return state_ == State::refused; }

 private:
  enum class State { none, waiting, refused };

  State state_ = State::none;
  std::optional<Instant> deadline_;
};

}  // namespace sitter
