#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// What kind of program an executable is, judged by its name.
enum class Runner {
  /// An ordinary program.
  none,
  /// Runs the file that its arguments name: node, python, java, sh.
  interpreter,
  /// Starts another program and stays: npx, uv, cargo, env.
  wrapper,
  /// Runs a program on another machine or outside of our process tree: docker, ssh.
  remote,
};

/// `program` is a path or a name. Version numbers (python3.11), case and `.exe` are ignored.
Runner runner_kind(std::string_view program);

/// Whether the program is a shell, whose script or code mostly starts another program.
bool is_shell(std::string_view program);

/// Whether these words of a command line show that the program starts itself anew when its sources
/// change: `node --watch`, nodemon, `uvicorn --reload`, `dotnet watch`.
bool restarts_itself(const std::vector<std::string>& words);

/// Finds the file under development in the arguments of an interpreter or wrapper. `arguments` does
/// not include the name of the interpreter or wrapper. The file is the first argument that names an
/// existing file, relative to `cwd`; options and files that hold no program (.json, .env, .toml,
/// ...) are skipped. For `-m pkg` it is pkg/__main__.py or pkg.py in `cwd` or in its folder src.
/// Behind code that an option brings (`sh -c`, `node -e`) there is none.
/// Returns an absolute path.
std::optional<std::string> script_of(const std::vector<std::string>& arguments,
                                     const std::string& cwd);

/// The file under development that `script_of` would find, if it existed: the first argument that
/// looks like the name of a program file, because of its ending, or because of a slash if it is
/// where a path of the project may be. Nothing if an argument names a file that exists, or if
/// `program` is no interpreter or wrapper. Returns an absolute path.
std::optional<std::string> missing_script(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          const std::string& cwd);

/// Whether an edit of the source takes effect at the next start of this command, without a build of
/// its own: an interpreter or a wrapper runs the source, or the command is a script.
bool runs_source(const std::string& command, const std::vector<std::string>& arguments,
                 const std::string& cwd);

/// The endings of the sources that such a command runs only after a build of its own. Empty if it
/// runs or builds all sources itself, and where that can't be known.
std::vector<std::string> built_endings(const std::string& command,
                                       const std::vector<std::string>& arguments,
                                       const std::string& cwd);

}  // namespace sitter
