#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace sitter::testing {

/// How long a test waits for something that should happen at once. Only a failing test waits this
/// long.
inline constexpr std::chrono::seconds kPatience{20};

/// Waits for a condition that no descriptor reports. Returns false if the condition does not become
/// true in time.
bool eventually(const std::function<bool()>& condition);

/// Waits for a file with one number, as a script writes it with its pid. 0 if none comes.
long number_in(const std::string& file);

/// Also false for a zombie: where nobody reaps orphans, they stay in the process table.
bool is_alive(long pid);

/// Waits until the process has ended.
bool ends(long pid);

/// The living processes whose environment holds this entry. Programs that a process starts inherit
/// the entry. An entry that only one test uses therefore finds every process that the test has
/// caused.
std::vector<long> processes_with(const std::string& environment_entry);

std::string command_line_of(long pid);
std::set<int> descriptors_of(long pid);

/// One field of /proc/PID/status, without its name. Empty if the process or the field is gone.
std::string status_field(long pid, const std::string& name);

/// The bytes that the process has read and written since its start. Both numbers are 0 if the
/// process is gone.
struct BytesMoved {
  std::uint64_t read = 0;
  std::uint64_t written = 0;

  bool operator==(const BytesMoved&) const = default;
};
BytesMoved bytes_moved(long pid);

/// Waits until all these processes sleep and none of them reads or writes any more: each waits for
/// something. Returns false if a process can't be looked at, or has moved nothing yet. `meanwhile`
/// is called again and again, and may keep the processes busy.
bool come_to_rest(
    const std::vector<long>& pids, const std::function<void()>& meanwhile = [] {});

/// The resident memory, and its largest size so far. Both are 0 if the process is gone.
std::size_t resident_bytes(long pid);
std::size_t resident_bytes_max(long pid);
/// The resident memory without the pages of files, which depend on how much of the program was
/// used.
std::size_t own_resident_bytes(long pid);

}  // namespace sitter::testing
