#pragma once

#include <string>

namespace sitter {

/// What texts call the two ways of ending a process: it is asked to end, or killed. The defaults
/// are the signals of POSIX.
struct EndWords {
  /// What made a process end.
  std::string asked = "SIGTERM";
  std::string killed = "SIGKILL";
  /// The same for a process that was asked alone, and not together with all processes of a child.
  std::string asked_alone = "SIGTERM";
  /// What was sent to it, as a noun: "it did not end within 2 s after SIGKILL".
  std::string request = "SIGTERM";
  std::string kill = "SIGKILL";

  /// Whether a process that is asked alone decides itself whether it ends.
  bool may_ignore() const { return asked_alone != killed; }
  /// What is sent to a process that is asked alone, as a noun.
  const std::string& request_alone() const { return may_ignore() ? request : kill; }
};

inline const EndWords kSignalWords;

}  // namespace sitter
