#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Whether a child that is a daemon can be reached. While it cannot, requests wait, and the daemon
/// is tried again from time to time. A child that is being lost is asked for nothing more.
///
///     present --on_refused--> absent --on_try--> trying --on_heard--> present
///        ^                      ^------on_refused---/                    |
///        \----------------------------on_heard--------------------------/
///     any --on_losing--> losing
class Absence {
 public:
  /// The daemon could not be reached, or has refused a request for now.
  void on_refused(std::string why, Milliseconds again_after, Now now) {
    if (state_ == State::losing) return;
    if (state_ == State::present) since_ = now;
    state_ = State::absent;
    why_ = std::move(why);
    again_at_ = now.steady + again_after;
  }
  /// The daemon is tried again.
  void on_try() {
    if (state_ != State::absent) return;
    state_ = State::trying;
    again_at_.reset();
  }
  /// The child is being lost, and its end follows.
  void on_losing() {
    state_ = State::losing;
    again_at_.reset();
  }
  /// The daemon has sent a message.
  void on_heard() {
    if (state_ == State::losing) return;
    state_ = State::present;
    again_at_.reset();
  }

  /// Whether the daemon has not been heard since it was found absent.
  bool is_on() const { return state_ == State::absent || state_ == State::trying; }
  /// Whether nothing must be sent to the daemon.
  bool holds() const { return state_ == State::absent || state_ == State::losing; }
  /// Why the daemon could not be reached, as a clause without a full stop.
  const std::string& why() const { return why_; }
  Now since() const { return since_; }
  /// When the daemon is tried again.
  std::optional<Instant> again_at() const { return again_at_; }

  /// A line of the bridge's own that the daemon has refused. It is sent again when the daemon is
  /// tried again.
  void keep(Line line) { refused_.emplace_back(line.text()); }
  std::vector<OwnedLine> take_refused() { return std::exchange(refused_, {}); }
  /// The answer to a request of the bridge's own is lost. All of them are reads or settings, so
  /// each may be sent once more. Returns false for the second time.
  bool may_repeat(std::string_view raw_id) { return repeated_.insert(std::string(raw_id)).second; }

 private:
  enum class State { present, absent, trying, losing };

  State state_ = State::present;
  std::string why_;
  Now since_{};
  std::optional<Instant> again_at_;
  std::vector<OwnedLine> refused_;
  std::set<std::string> repeated_;
};

}  // namespace sitter
