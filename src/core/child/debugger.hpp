#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/base/orders.hpp"
#include "sitter/generation.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How often the bridge looks whether a debugger is still attached, while something waits for that.
inline constexpr Milliseconds kDebuggerInterval{1000};

}  // namespace limits

/// Whether a debugger is attached to a child. No limit and no reload ends such a child. The bridge
/// only looks when something would end the child, because a look holds for its moment alone.
///
///     unknown --> looking --> attached
///        ^-----------/           |
///        \-----------------------/ after `limits::kDebuggerInterval`
class Debugger {
 public:
  /// Something would end the child now, and asks in each round for as long as it is wanted. Returns
  /// false while a debugger is attached, and until that is known.
  bool lets_end(Generation gen, Now now, Orders& out) {
    if (state_ == State::unknown && absent_at_ != now.steady) {
      state_ = State::looking;
      out.push(order::LookAtProcess{gen});
    }
    return state_ == State::unknown;
  }
  void on_seen(std::string name, Now now) {
    name_ = std::move(name);
    if (name_.empty()) {
      absent_at_ = now.steady;
      state_ = State::unknown;
    } else if (state_ == State::looking) {
      state_ = State::attached;
      again_at_ = now.steady + limits::kDebuggerInterval;
    }
  }
  void on_timeout() { state_ = State::unknown; }

  /// Whether something must wait before it ends the child.
  bool holds() const { return state_ != State::unknown; }
  bool is_attached() const { return state_ == State::attached; }
  /// Who was attached at the last look; empty if nobody was.
  const std::string& name() const { return name_; }
  std::optional<Instant> deadline() const {
    return is_attached() ? std::optional(again_at_) : std::nullopt;
  }

 private:
  enum class State {
    unknown,   ///< nobody asks, or the last look has found no debugger
    looking,   ///< a look is ordered
    attached,  ///< the last look has found a debugger
  };

  State state_ = State::unknown;
  std::string name_;
  std::optional<Instant> absent_at_;
  Instant again_at_{};
};

}  // namespace sitter
