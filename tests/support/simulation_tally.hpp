#pragma once

#include <map>
#include <string>

namespace sitter::sim {

/// What has happened in all seeds, to show what they reach.
using Tally = std::map<std::string, int>;

}  // namespace sitter::sim
