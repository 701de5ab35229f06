#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The command line from which a program reads these words again (CommandLineToArgvW). cmd.exe
/// reads the word behind `/s /c` as it is.
std::wstring command_line(const std::vector<std::string>& words);

/// The same for a batch file, which cmd.exe runs: with the whole path of that and of the file. A
/// word arrives as it is, although cmd.exe reads the line before the file does. Nothing if a word
/// has a line end, which cmd.exe cannot pass, or if the path has a quote.
std::optional<std::wstring> batch_command_line(std::string_view shell, std::string_view file,
                                               const std::vector<std::string>& arguments);

/// Whether cmd.exe must run the file.
bool is_batch_file(std::string_view path);

}  // namespace sitter
