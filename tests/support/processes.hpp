#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace sitter::testing {

/// How long a test waits for what must happen at once. Only a failing test ever waits so long.
inline constexpr std::chrono::seconds kPatience{20};

/// Waits for something that shows itself in no descriptor. False if it has not come true in time.
bool eventually(const std::function<bool()>& condition);

/// False for a zombie too: where nobody reaps orphans they stay in the table.
bool is_alive(long pid);

/// Waits until the process has ended.
bool ends(long pid);

/// The living processes whose environment holds this entry. What a program starts inherits it, so
/// an entry that only one test uses finds everything that came of it.
std::vector<long> processes_with(const std::string& environment_entry);

std::string command_line_of(long pid);
std::set<int> descriptors_of(long pid);

/// One field of /proc/PID/status, without its name; empty if the process or the field is gone.
std::string status_field(long pid, const std::string& name);

/// Bytes that the process has read and written since its start. Both are 0 when it is gone.
struct BytesMoved {
  std::uint64_t read = 0;
  std::uint64_t written = 0;

  bool operator==(const BytesMoved&) const = default;
};
BytesMoved bytes_moved(long pid);

/// Waits until all of these sleep and none reads or writes any more: each waits for somebody else.
/// False if one of them can't be looked at, or has moved nothing yet. `meanwhile` is done again and
/// again, and may keep them busy.
bool come_to_rest(
    const std::vector<long>& pids, const std::function<void()>& meanwhile = [] {});

/// Resident memory, and the most that it ever was. 0 when the process is gone.
std::size_t resident_bytes(long pid);
std::size_t resident_bytes_max(long pid);
/// Resident memory without the pages of files, which are those of the program that were used so
/// far.
std::size_t own_resident_bytes(long pid);

}  // namespace sitter::testing
