#pragma once

#include <string>

namespace sitter {

/// How a child ended. The shell fills it in, because numbers and names of signals differ per
/// system.
struct ExitStatus {
  /// The exit code, or 128 + the signal's number, as a shell would report it.
  int code = 0;
  /// "SIGSEGV" when a signal ended it, else empty.
  std::string signal;

  bool by_signal() const { return !signal.empty(); }

  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

}  // namespace sitter
