#pragma once

#include <string>

namespace sitter {

/// How a child ended. The shell fills it in, because numbers and names of signals differ between
/// systems.
struct ExitStatus {
  /// The exit code, or 128 + the signal's number, as a shell would report it.
  int code = 0;
  /// The name of the signal that ended the child, such as "SIGSEGV"; empty if no signal did.
  std::string signal = {};
  /// Where the core dump of a crash is, or what must be done to get one: a sentence without a full
  /// stop. Empty if there is nothing to say.
  std::string core = {};
  /// The name of the signal that a shell or a wrapper passes on with this exit code (128 + its
  /// number, POSIX 2.8.2). Empty if there is none that ends a program.
  std::string passed_on = {};

  bool by_signal() const { return !signal.empty(); }

  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

/// A process that is no child of this one has ended, and the system does not say how.
inline const ExitStatus kUnknownExit{-1, ""};

}  // namespace sitter
