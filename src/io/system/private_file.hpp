#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Makes a file that only its user can read, and opens it for writing. Closed if there is such a
/// file already, or if it cannot be made.
FileDescriptor create_private_file(const std::string& path);

/// Makes a folder that only its user can enter, unless there is one.
void make_private_folder(const std::string& path);

/// Writes the whole text. False on failure.
bool write_whole(const FileDescriptor& file, std::string_view text);

/// Moves a file to this place, in one step: readers see either the file before or the file after,
/// and a process that has the file before open may go on reading it. Returns why it failed.
std::error_code move_over(const std::string& from, const std::string& to);

/// False if the file is there afterwards.
bool delete_file(const std::string& path);

/// Writes a file that only its user can read, in one step. False on failure; nothing has changed
/// then.
bool write_private_file(const std::string& path, std::string_view text);

}  // namespace sitter
