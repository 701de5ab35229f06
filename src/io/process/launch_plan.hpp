#pragma once

#include <string>
#include <variant>
#include <vector>

namespace sitter {

/// What the user asked to be run.
struct LaunchRequest {
  enum class Role { child, build };

  /// With a slash: a path, looked up from `cwd`. Without: a name to search in PATH.
  std::string command;
  std::vector<std::string> arguments;
  /// Empty: the bridge's own.
  std::string cwd;
  /// NAME=VALUE, in order; later entries win, and all of them win over the file's.
  std::vector<std::string> environment;
  /// Read anew at every launch. Empty: none.
  std::string env_file;
  Role role = Role::child;
};

/// A build command as the system's shell reads it, to be run in `cwd`.
LaunchRequest build_request(std::string command_line, std::string cwd);

/// Why nothing was started: one sentence that names what is wrong and what to do.
struct LaunchFailure {
  std::string reason;
  /// The program is open for writing (ETXTBSY, execve(2)).
  bool is_file_busy = false;
};

/// What a request comes to on this system at this moment.
struct LaunchPlan {
  /// Absolute path of what will be executed.
  std::string program;
  /// Its arguments; the first is the command as the user named it.
  std::vector<std::string> arguments;
  /// Absolute path of the child's working directory.
  std::string cwd;
  /// The child's environment, NAME=VALUE, each name once.
  std::vector<std::string> environment;
  /// What it writes to stdout goes where its stderr goes, in one order.
  bool merges_outputs = false;
};

using PlannedLaunch = std::variant<LaunchPlan, LaunchFailure>;

/// Reads the env file and finds the program, as the platform's shell would: PATH is that of the
/// child's environment, relative entries of it count from the child's directory, a hit that can't
/// be executed is skipped. Empty entries, which would mean the current directory, are skipped too.
/// Whether the program can really be executed shows only at the launch.
PlannedLaunch plan_launch(const LaunchRequest& request);

/// The absolute path of `name` in the PATH of `plan`, or empty.
std::string find_in_path(const LaunchPlan& plan, const std::string& name);

}  // namespace sitter
