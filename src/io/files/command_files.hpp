#pragma once

#include <string>

#include "io/process/launch_plan.hpp"

namespace sitter {

/// What the files of a command look like now: the program, files that its arguments name, and the
/// env file, each with time, size and number. Two of these differ when one of the files was
/// changed, made or removed. `planned` is what the request comes to now.
std::string command_files(const LaunchRequest& request, const PlannedLaunch& planned);

}  // namespace sitter
