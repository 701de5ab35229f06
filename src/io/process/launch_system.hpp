#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What a command means on this system, for `plan_launch`.
namespace sitter {

/// Between the folders of PATH.
extern const char kPathSeparator;
/// What is searched if PATH is not set.
extern const std::string_view kDefaultPath;
/// Why a file that was found is no program: a clause with the file as its subject.
extern const char* const kNotExecutable;

/// Whether the command names a folder, so that it is not looked for in PATH.
bool names_folder(std::string_view command);

/// The endings that a name may lack, as PATHEXT of Windows lists them; none elsewhere.
std::vector<std::string> program_endings(std::string_view pathext);

/// The file that can be executed at this path, which may lack one of the endings. Empty if there is
/// none.
std::string program_at(const std::string& path, const std::vector<std::string>& endings);

/// How long the name in an entry NAME=VALUE is; the whole entry if it has no value.
std::size_t name_size(std::string_view entry);
/// Equal for equal names of a variable.
std::string variable_key(std::string_view name);

/// Why this process cannot enter the folder; empty if it can.
std::string entering_problem(const std::string& folder);

/// The words that let the system's shell run a command line.
std::vector<std::string> shell_words(std::string command_line);

}  // namespace sitter
