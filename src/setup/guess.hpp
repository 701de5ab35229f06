#pragma once

#include <string>

#include "setup/build_tools.hpp"
#include "setup/server_entry.hpp"

namespace sitter::setup {

/// How a server is built, and which files to watch.
struct Guess {
  /// What says so, as in "Cargo.toml and cargo metadata". Empty: nothing was guessed.
  std::string from = {};
  /// A shell command; empty if there is nothing to build.
  std::string build = {};
  /// Where it runs; empty: where the server does.
  std::string build_cwd = {};
  /// Patterns of --watch.
  Words watch = {};
  /// Why nothing was guessed, or what is uncertain; a clause.
  std::string problem = {};
};

/// Looks for the nearest project file in and above the folder of the server's own file, and asks
/// the build tool what it builds. `directory` is where the server runs. If the client may run it
/// elsewhere, all paths are absolute.
Guess guess(const Words& words, const std::string& directory, bool runs_elsewhere,
            const Asking& asking = {});

}  // namespace sitter::setup
