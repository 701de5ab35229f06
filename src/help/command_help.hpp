#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// What `--help` of a command prints, at most 80 columns wide but for the usage: what the command
/// does, the lines of `usage`, its commands and options, and `end` in a paragraph of its own.
std::string command_help(const CLI::App& app, std::string_view usage, std::string_view end = {});

/// What the parser has found wrong with the words of a command, as a sentence without the
/// program's name. An unknown option gets a hint at the option that was probably meant.
std::string wrong_words(const CLI::App& app, const std::vector<std::string>& words,
                        const CLI::ParseError& error);

}  // namespace sitter
