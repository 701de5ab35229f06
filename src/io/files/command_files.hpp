#pragma once

#include <string>

#include "io/process/launch_plan.hpp"

namespace sitter {

/// A fingerprint of the files of a command: the program, the files that its arguments name, and the
/// env file, each with its time, size and inode number. Two fingerprints differ if one of the files
/// was changed, created or removed. `planned` is the launch plan of the request.
std::string command_files(const LaunchRequest& request, const PlannedLaunch& planned);

}  // namespace sitter
