#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"

namespace sitter {

/// Whether the server opened in an environment, and why not.
struct EnvironmentTrial {
  bool opens = false;
  std::string failure;
};

/// Starts the server with this whole environment (NAME=VALUE entries), and ends it again.
using TryEnvironment = std::function<EnvironmentTrial(std::vector<std::string> environment)>;

/// Tries the server in the short environment of clients, and finds the variables of our own
/// environment that it needs there: with at most 24 starts, and no further start after 60 s.
DoctorFacts::Environment examine_environment(const TryEnvironment& attempt);

}  // namespace sitter
