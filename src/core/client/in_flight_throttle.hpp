#pragma once

#include <cstddef>
#include <optional>

#include "core/client/client_requests.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a client with too much in flight is not read before its requests are refused. Answers
/// that come meanwhile make room. A kill or a cancellation, which may be what helps, waits for no
/// longer than this.
inline constexpr Milliseconds kThrottleWait{1000};

}  // namespace limits

/// The client's requests in flight take memory. A client with too much in flight is first not read
/// for a while, and only then refused: it must be read again, because a kill or a cancellation may
/// be what helps.
///
///     none --over the bound--> waiting --deadline--> refused
///      ^---- under it again -----/-------------------/
class InFlightThrottle {
 public:
  /// The requests in flight take this many bytes.
  void settle(std::size_t bytes, Now now) {
    if (bytes <= limits::kInFlightBytesMax) {
      state_ = State::none;
      deadline_.reset();
    } else if (state_ == State::none) {
      state_ = State::waiting;
      deadline_ = now.steady + limits::kThrottleWait;
    }
  }

  void on_timeout(Now now) {
    if (!is_due(deadline_, now)) return;
    deadline_.reset();
    state_ = State::refused;
  }
  std::optional<Instant> deadline() const { return deadline_; }

  /// Whether the client may be read.
  bool reads() const { return state_ != State::waiting; }
  /// Whether new requests are refused instead of passed on.
  bool refuses() const { return state_ == State::refused; }

 private:
  enum class State { none, waiting, refused };

  State state_ = State::none;
  std::optional<Instant> deadline_;
};

}  // namespace sitter
