#pragma once

#include <optional>
#include <string>

#include "core/child/child_end.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// From this failed start in a row on, at least this interval lies between two starts.
inline constexpr int kFailedStartsFree = 3;
inline constexpr Milliseconds kStartInterval{1000};

}  // namespace limits

/// Whether a child may be started now. Starts that fail in a row are spaced out, so that a client
/// that asks again and again does not cause a storm of processes.
class StartPolicy {
 public:
  struct Failure {
    ChildEnd end;
    std::string stderr_tail;
  };

  /// Otherwise a start is allowed only if the command's files have changed since the last start.
  bool may_start(Now now) const {
    return failures_ < limits::kFailedStartsFree ||
           now.steady >= last_start_ + limits::kStartInterval;
  }

  void on_start(Now now) { last_start_ = now.steady; }
  void on_failed(Failure failure) {
    ++failures_;
    last_failure_ = std::move(failure);
  }
  void on_proved() { failures_ = 0; }

  /// The last start that failed, even if a later start has worked.
  const std::optional<Failure>& last_failure() const { return last_failure_; }

 private:
  int failures_ = 0;  // in a row
  Instant last_start_;
  std::optional<Failure> last_failure_;
};

}  // namespace sitter
