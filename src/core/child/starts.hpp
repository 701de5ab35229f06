#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/orders.hpp"
#include "core/child/child_end.hpp"
#include "core/child/restart_policy.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// From this failed start in a row on, at least this interval lies between two starts.
inline constexpr int kFailedStartsFree = 3;
inline constexpr Milliseconds kStartInterval{1000};

}  // namespace limits

/// When a child is started: for a request, and without a request as --restart says. Starts that
/// fail in a row are spaced out, so that a client that asks again and again does not cause a storm
/// of processes. After failed starts, the shell first looks at the files of the command. Until it
/// has answered, no child is started.
class Starts {
 public:
  /// The purpose of a look at the files of the command.
  enum class Check : std::uint8_t {
    none,         ///< no look is on its way
    for_request,  ///< if the files have changed, a request starts a child; otherwise it fails
    for_mended,   ///< if the files have changed, a child is started without a request
  };

  /// `restarts_max`: the number of restarts in a row.
  Starts(RestartPolicy::When restarts, int restarts_max) : restart_(restarts, restarts_max) {}

  struct Failure {
    ChildEnd end;
    std::string stderr_tail;
  };

  /// Otherwise a start is allowed only if the command's files have changed since the last start.
  bool may_start_now(Now now) const {
    return failures_ < limits::kFailedStartsFree ||
           now.steady >= last_start_ + limits::kStartInterval;
  }
  void check_files(Check purpose, Orders& out) {
    check_ = purpose;
    out.push(order::CheckCommandFiles{});
  }
  bool is_checking() const { return check_ != Check::none; }
  /// The shell has looked at the files. Returns the purpose.
  Check on_checked() { return std::exchange(check_, Check::none); }

  void on_start(Now now) {
    last_start_ = now.steady;
    restart_.on_start(now);
    has_started_ = true;
  }
  /// Whether a child was started since the last call of this function.
  bool take_started() { return std::exchange(has_started_, false); }
  /// A child has shown that it works.
  void on_proved() { failures_ = 0; }
  /// A child has ended before it has shown that it works.
  void on_failed(Failure failure) {
    ++failures_;
    last_failure_ = std::move(failure);
  }
  /// The last start that failed, even if a later start has worked.
  const std::optional<Failure>& last_failure() const { return last_failure_; }

  /// A child that served, or was about to serve, has ended. Returns true if only the bound for
  /// restarts in a row prevents a restart.
  bool on_end(const ChildEnd& end, Now now) { return restart_.on_end(end, now); }
  /// When a child is started without a request.
  std::optional<Instant> restart_due() const { return restart_.due(); }
  /// No restart follows: the server is to stay down, or something else starts it.
  void cancel_restart() { restart_.cancel(); }
  const RestartPolicy& restarts() const { return restart_; }

 private:
  int failures_ = 0;  // in a row
  Instant last_start_;
  std::optional<Failure> last_failure_;
  RestartPolicy restart_;
  Check check_ = Check::none;
  bool has_started_ = false;
};

}  // namespace sitter
