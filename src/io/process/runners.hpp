#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// What kind of program an executable is, told by its name.
enum class Runner {
  /// A program of its own.
  none,
  /// Runs the file that its arguments name: node, python, java, sh.
  interpreter,
  /// Starts another program and stays: npx, uv, cargo, env.
  wrapper,
  /// What it runs is not on this machine or not among our processes: docker, ssh.
  remote,
};

/// `program` is a path or a name; versions (python3.11), case and `.exe` do not matter.
Runner runner_kind(std::string_view program);

/// The file under development among the arguments of an interpreter or wrapper, without its name:
/// the first that names an existing file, counted from `cwd`, where options and files that hold no
/// program (.json, .env, .toml, ...) are skipped; for `-m pkg` pkg/__main__.py or pkg.py in `cwd`
/// or its src. An absolute path.
std::optional<std::string> script_of(const std::vector<std::string>& arguments,
                                     const std::string& cwd);

}  // namespace sitter
