#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sitter {

/// The command that the user wants to run.
struct LaunchRequest {
  enum class Role { child, build };

  /// With a slash: a path, relative to `cwd`. Without a slash: a name to find in PATH.
  std::string command = {};
  std::vector<std::string> arguments = {};
  /// Empty: the bridge's own working directory.
  std::string cwd = {};
  /// NAME=VALUE entries in order. A later entry overrides an earlier one, and all of them override
  /// the entries of the file.
  std::vector<std::string> environment = {};
  /// Read anew at every launch. Empty: no file.
  std::string env_file = {};
  Role role = Role::child;
  /// A build makes the file under development, so that it may be missing.
  bool is_built = false;
  /// Whether the process may go on when the bridge has ended.
  bool outlives_bridge = false;
  /// Where the process listens, if later bridges may know it again. Otherwise empty.
  std::string daemon_url = {};
  /// The process is stopped before its first instruction, until a debugger or a signal lets it run.
  bool starts_stopped = false;
  /// Whether a build may write the files that the server runs, where the system locks them.
  bool puts_files_aside = true;
  /// What has named `cwd`, for texts.
  std::string cwd_source = "--cwd";
};

/// The environment of this process: NAME=VALUE entries.
std::vector<std::string> own_environment();

/// A build command for the system's shell, to be run in `cwd`.
LaunchRequest build_request(std::string command_line, std::string cwd);

/// Why nothing was started: one sentence that says what is wrong and what to do.
struct LaunchFailure {
  std::string reason;
  /// The program is open for writing (ETXTBSY, execve(2)).
  bool is_file_busy = false;
  /// No file has the name of the command.
  bool is_missing = false;
  /// This process may open no more files at this moment.
  bool is_out_of_files = false;
};

/// What a request means on this system at this moment.
struct LaunchPlan {
  /// Absolute path of the file that will be executed.
  std::string program;
  /// The arguments; the first is the command as the user wrote it.
  std::vector<std::string> arguments;
  /// Absolute path of the child's working directory.
  std::string cwd;
  /// The child's environment: NAME=VALUE entries, each name once.
  std::vector<std::string> environment;
  /// Whether stdout goes to the same pipe as stderr, so that their order is kept.
  bool merges_outputs = false;
  /// Whether the process goes on when the bridge ends. Somebody must then read its output.
  bool outlives_bridge = false;
  bool starts_stopped = false;
};

using PlannedLaunch = std::variant<LaunchPlan, LaunchFailure>;

/// Reads the env file and finds the program as the platform's shell would: it searches the PATH of
/// the child's environment, with relative entries starting at the child's directory. Files that
/// cannot be executed are skipped, and so are empty entries, which would mean the current
/// directory. Only the launch shows whether the program can really be executed.
PlannedLaunch plan_launch(const LaunchRequest& request);

/// The absolute path of `name` in the PATH of `plan`, or an empty string.
std::string find_in_path(const LaunchPlan& plan, const std::string& name);

/// The first line of a file without its line end, at most 256 bytes. Empty if the file cannot be
/// read.
std::string first_line_of(const std::string& path);

/// The interpreter and its arguments in a first line that begins with `#!`, otherwise nothing.
std::vector<std::string> shebang_words(std::string_view first_line);

}  // namespace sitter
