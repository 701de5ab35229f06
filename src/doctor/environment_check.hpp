#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/examination.hpp"

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

/// Whether the server opens with these variables besides the short environment. Nothing if there
/// may be no further start.
using OpensWith = std::function<std::optional<bool>(const std::vector<std::string>& names)>;

struct NeededVariables {
  std::vector<std::string> names;
  /// False if the search could not go on, so that not all of the names may be needed.
  bool is_exact = true;
  /// The server did not open with the names that seemed enough, so it does not always open.
  bool is_unsteady = false;
};

/// The smallest set of variables with which the server opens. It does not open with none of them,
/// and it opens with all. PATH is tried first, and then halves of the rest.
NeededVariables find_needed_variables(std::vector<std::string> names, const OpensWith& opens);

}  // namespace sitter
