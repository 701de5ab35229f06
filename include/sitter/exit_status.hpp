#pragma once

#include <cstdint>
#include <string>

namespace sitter {

/// How a child ended. The shell fills it in, because numbers and names of signals differ between
/// systems.
struct ExitStatus {
  /// The exit code, or 128 + the signal's number, as a shell would report it. On Windows, the 32
  /// bits of the exit code, which may be the number of an exception (NTSTATUS).
  int code = 0;
  /// The name of the signal that ended the child, such as "SIGSEGV"; empty if no signal did.
  std::string signal = {};
  /// Where the core dump of a crash is, or what must be done to get one: a sentence without a full
  /// stop. Empty if there is nothing to say.
  std::string core = {};
  /// The name of the signal that a shell or a wrapper passes on with this exit code (128 + its
  /// number, POSIX 2.8.2). Empty if there is none that ends a program.
  std::string passed_on = {};
  /// A process that is no child of this one has ended, and the system does not say how.
  bool is_unknown = false;

  bool by_signal() const { return !signal.empty(); }

  /// The exit code without a sign, as Microsoft lists the numbers of exceptions.
  std::uint32_t unsigned_code() const { return static_cast<std::uint32_t>(code); }

  /// The exit code is a number of Windows (MS-ERREF 2), and not a small negative number, with which
  /// a program ends by itself. No exit code of another system is so large.
  bool has_system_code() const {
    return unsigned_code() >= 0x80000000 && unsigned_code() < 0xFFFF0000;
  }

  /// An exception has ended the child: the severity of its number is "error" (MS-ERREF 2.3), or it
  /// is one of the five warnings from STATUS_GUARD_PAGE_VIOLATION to STATUS_BUFFER_OVERFLOW.
  bool by_exception() const {
    const std::uint32_t number = unsigned_code();
    const bool is_warning = number >= 0x80000001 && number <= 0x80000005;
    return has_system_code() && (number >= 0xC0000000 || is_warning) && !by_control_c();
  }

  /// Ctrl+C, Ctrl+Break or the end of the console has ended the child (STATUS_CONTROL_C_EXIT).
  bool by_control_c() const { return unsigned_code() == kControlC; }

  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;

 private:
  static constexpr std::uint32_t kControlC = 0xC000013A;
};

inline const ExitStatus kUnknownExit{.code = -1, .is_unknown = true};

}  // namespace sitter
