#pragma once

#include <string>

#include "io/system/file_descriptor.hpp"

namespace sitter {

/// A non-blocking connection to a process of this user. Never waits. Closed on failure.
FileDescriptor connect_to_socket(const std::string& path);

/// A socket at this path that other processes of this user can connect to. Closed on failure, with
/// the reason in errno.
FileDescriptor listen_at_socket(const std::string& path);

}  // namespace sitter
