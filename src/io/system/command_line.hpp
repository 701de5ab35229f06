#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The command line from which a program for Windows gets these words back. A program there gets
/// one text, which the C runtime splits ("Parsing C command-line arguments" of Microsoft). The word
/// behind `/s /c` is a command of cmd.exe, which takes it as it is.
std::string command_line_of(const std::vector<std::string>& words);

/// The words that a program for Windows gets from its command line, by the same rules. A quote that
/// is doubled within quotes stands for one. The first word has no backslashes of that kind.
std::vector<std::string> words_of(std::string_view command_line);

/// Whether cmd.exe runs this file: a batch file, such as the scripts that npm writes for programs.
bool is_batch_file(std::string_view path);

/// The command line for cmd.exe that runs a batch file with these words, of which the first is the
/// path of the file. Such a file reads the line by other rules, and so does the program that it
/// hands its words to. Nothing if a word has a character that ends the line there.
std::optional<std::string> batch_command_line(const std::vector<std::string>& words);

}  // namespace sitter
