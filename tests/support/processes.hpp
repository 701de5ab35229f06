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

/// Waits until a file holds this many numbers, as scripts write them with their pids, and returns
/// the last of these. Throws if they do not come: kill(2) must not be called with a pid that is not
/// there.
long number_in(const std::string& file, std::size_t count = 1);

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

/// What the process calls itself, if it has taken a name of its own. Empty if the process is gone.
std::string title_of(long pid);

/// The processes that a process has started and not reaped yet.
std::vector<long> children_of(long pid);

/// What tells whether a process does anything.
struct Activity {
  bool sleeps = false;
  /// Counts what the process has done since its start. Empty if the process can't be looked at, or
  /// has done nothing yet.
  std::vector<std::uint64_t> counts = {};
};
Activity activity_of(long pid);

/// Waits until all these processes sleep and none of them does anything any more: each waits for
/// something. Returns false if a process can't be looked at. `meanwhile` is called again and again,
/// and may keep the processes busy.
bool come_to_rest(
    const std::vector<long>& pids, const std::function<void()>& meanwhile = [] {});

/// The resident memory, and its largest size so far. Both are 0 if the process is gone.
std::size_t resident_bytes(long pid);
std::size_t resident_bytes_max(long pid);

/// How many bytes that a process has given back its allocator may keep resident.
std::size_t kept_bytes_max();

}  // namespace sitter::testing
