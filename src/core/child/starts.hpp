#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/orders.hpp"
#include "core/child/restart_policy.hpp"
#include "core/child/start_policy.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// When a child is started: for a request, unless starts fail in a row, and without a request as
/// --restart says. Where starts have failed, the command's files are looked at first; nothing is
/// started until the answer is there.
class Starts {
 public:
  /// What a look at the command's files is for.
  enum class Check : std::uint8_t {
    none,         ///< there is no look on its way
    for_request,  ///< a change lets a request start a child, else the request fails
    for_mended,   ///< a change is reason enough for a start
  };

  /// `restarts_max`: in a row.
  Starts(RestartPolicy::When restarts, int restarts_max) : restart_(restarts, restarts_max) {}

  bool may_start_now(Now now) const { return policy_.verdict(now) == StartPolicy::Verdict::start; }
  void check_files(Check purpose, Orders& out) {
    check_ = purpose;
    out.push(order::CheckCommandFiles{});
  }
  bool is_checking() const { return check_ != Check::none; }
  /// The files were looked at. Returns what for.
  Check on_checked() { return std::exchange(check_, Check::none); }

  void on_start(Now now) {
    policy_.on_start(now);
    restart_.on_start(now);
  }
  /// A child has come to serve.
  void on_proved() { policy_.on_opened(); }
  /// A child has ended without that.
  void on_failed(StartPolicy::Failure failure) { policy_.on_failed(std::move(failure)); }
  /// The last start that failed, also after a later one worked.
  const std::optional<StartPolicy::Failure>& last_failure() const { return policy_.last_failure(); }

  /// A child has ended that had served, or was to. Returns whether it would be started again
  /// without a request if that had not been done so often in a row.
  bool on_end(const ChildEnd& end, Now now) {
    restart_.on_end(end, now);
    return restart_.when() != RestartPolicy::When::lazy && restart_.is_exhausted();
  }
  /// When a child is to be started without a request.
  std::optional<Instant> restart_due() const { return restart_.due(); }
  /// Somebody wants it to stay down, or sees to it in another way.
  void cancel_restart() { restart_.cancel(); }
  const RestartPolicy& restarts() const { return restart_; }

 private:
  StartPolicy policy_;
  RestartPolicy restart_;
  Check check_ = Check::none;
};

}  // namespace sitter
