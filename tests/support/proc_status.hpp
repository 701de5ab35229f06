#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sitter::testing {

// What only Linux tells of a process (proc(5)).

/// One field of /proc/PID/status, without its name. Empty if the process or the field is gone.
std::string status_field(long pid, const std::string& name);

/// The bytes that the process has read and written since its start. Both numbers are 0 if the
/// process is gone.
struct BytesMoved {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};
BytesMoved bytes_moved(long pid);

/// The resident memory without the pages of files, which depend on how much of the program was
/// used.
std::size_t own_resident_bytes(long pid);

}  // namespace sitter::testing
