#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Opens a file to which several processes append. A new one can be read only by its user. Closed
/// on failure, with the reason in `error`.
FileDescriptor open_to_append(const std::string& path, std::error_code& error);

/// Writes at the end of the file, wherever it is by then. A text that was written in part is an
/// error.
std::error_code append(const FileDescriptor& file, std::string_view text);

/// Whether this process alone holds the lock of the file now, until it closes the file. Does not
/// wait, and keeps nobody from writing.
bool lock_alone(const FileDescriptor& file);

}  // namespace sitter
