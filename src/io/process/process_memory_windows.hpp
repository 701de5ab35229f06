#pragma once

#include <optional>
#include <string>

#include "io/system/windows.hpp"
// winternl.h comes after windows.h.
#include <winternl.h>

namespace sitter {

/// Empty if there is no such process, or it may not be opened.
windows::Handle open_process(long pid, DWORD access);

std::optional<PROCESS_BASIC_INFORMATION> basic_facts_of(const windows::Handle& process);

/// The memory of another process, in which the system has left what it was started with. What
/// cannot be read is empty.
class ProcessMemory {
 public:
  explicit ProcessMemory(long pid);

  std::wstring command_line() const;
  std::wstring working_directory() const;
  /// Each entry ends with a zero; an empty entry, and perhaps other bytes, stand at the end.
  std::wstring environment() const;
  /// The program under the name that it has now, as the kernel writes it:
  /// \Device\HarddiskVolume3\a.exe. A file that runs can be renamed, and another file may have its
  /// path.
  std::wstring program() const;

 private:
  struct Parameters;

  bool read(const void* from, void* to, std::size_t size) const;
  std::wstring text(const UNICODE_STRING& at) const;
  std::optional<PEB> block() const;
  Parameters parameters() const;

  windows::Handle process_;
};

}  // namespace sitter
