#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sitter::setup {

/// The name of a program: without its folder, and without the ending by which Windows knows it, as
/// in "npx" for C:/nodejs/npx.cmd.
std::string program_name(const std::filesystem::path& file);

/// Whether an interpreter runs this file as its own source, by its ending.
bool is_script(const std::filesystem::path& path);

/// Whether an interpreter runs this file, by its ending: a script, or what a build has made for it.
bool is_interpreted(const std::filesystem::path& file);

/// The file of the server that these words of a command start in `directory`. It need not exist
/// yet. Empty if the server is a published package or unknown.
std::filesystem::path server_file(const std::vector<std::string>& words,
                                  const std::filesystem::path& directory);

}  // namespace sitter::setup
