#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

namespace sitter::setup {

/// How build tools may be asked what they build.
struct Asking {
  /// How long a tool may take. `go list` and `cargo metadata` need less than a second, and CMake
  /// some seconds to configure a build again.
  std::chrono::milliseconds time = std::chrono::seconds(15);
  /// What would write files is not run.
  bool is_dry_run = false;
};

/// A server that is being developed, and the project around it.
struct Project {
  std::filesystem::path root;
  /// The server's own file, relative to the root.
  std::filesystem::path server;
  Asking asking;
};

/// What a build tool says about the server of a project.
struct ToolAnswer {
  /// The folders with its sources, relative to the root; `.` for the root itself.
  std::set<std::filesystem::path> folders;
  /// How the tool calls the package of the server. Empty if there is no other, or if the tool does
  /// not know which it is.
  std::string package;
};

// These throw Failure with a clause if the tool is missing, fails, takes too long or says too much.
// CMake and Cargo must also know the server.

/// Asks CMake by its file API (cmake-file-api(7)). If nobody has asked before, CMake configures the
/// build again, in its folder `build`, which is relative to the root. A dry run does not.
ToolAnswer ask_cmake(const Project& project, const std::filesystem::path& build);

/// Asks `cargo metadata` about the package of the server, and the packages of the workspace that it
/// needs.
ToolAnswer ask_cargo(const Project& project);

/// Asks `go list` for the package of the program: the one that is called so, or the one in the
/// root, or the only one.
ToolAnswer ask_go(const Project& project);

}  // namespace sitter::setup
