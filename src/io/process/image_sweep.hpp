#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/process/process_table.hpp"
#include "io/process/process_unit.hpp"

namespace sitter {

/// All other processes of the same user that run the same executable file as `image`: never this
/// process, its ancestors, or one of `not_ours`. Empty if the image is unknown.
std::vector<ProcessInfo> same_image(const ImageIdentity& image, const std::vector<long>& not_ours);

/// Signals one of these, if it still runs that file.
Delivery signal_same_image(long pid, const ImageIdentity& image, UnitSignal signal);

/// True if the executable is an interpreter or runner that processes of strangers run too, so that
/// they must not be swept with it.
bool shared_by_strangers(const std::string& path);

/// True if it stands in a folder of the system (/usr/bin), where nothing is that is being
/// developed: behind a shell it is a tool such as cat or tee, and not the server.
bool belongs_to_the_system(std::string_view path);

}  // namespace sitter
