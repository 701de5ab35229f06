#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/process/process_table.hpp"
#include "io/process/process_unit.hpp"

namespace sitter {

/// Another process that runs a certain executable file.
struct SameImage : ProcessInfo {
  /// See `ProcessRecord::start`.
  std::uint64_t start = 0;
  /// Without its name.
  std::vector<std::string> arguments;
  /// The other living mcp-sitter that has started it or one of its ancestors, if there is one. A
  /// mcp-sitter that this one runs below does not count, since everything here runs below it.
  std::optional<Supervisor> supervisor;
};

/// All other processes of the same user that run the same executable file as `image`. Never
/// includes this process, its ancestors, or the processes in `not_ours`. Empty if the image is
/// unknown.
std::vector<SameImage> same_image(const ImageIdentity& image, const std::vector<long>& not_ours);

/// Signals such a process, if it still runs that file.
Delivery signal_same_image(long pid, const ImageIdentity& image, UnitSignal signal);

/// Whether the executable is an interpreter or runner that unrelated processes run too, so that
/// they must not be ended together with the child.
bool shared_by_strangers(const std::string& path);

/// Whether the path is in a system folder such as /usr/bin, where nobody develops a program. Behind
/// a shell, such a program is a tool such as cat or tee, and not the server.
bool belongs_to_the_system(std::string_view path);

}  // namespace sitter
