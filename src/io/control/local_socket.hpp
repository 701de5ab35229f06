#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/system/file_descriptor.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Why there is no connection.
enum class NoConnection {
  fails,
  is_busy,  ///< too many connections wait already
  nobody_listens,
};

/// A non-blocking connection to a process of this user. Never waits. Closed on failure, with the
/// reason in `why`.
FileDescriptor connect_to_socket(const std::string& path, NoConnection* why = nullptr);

/// A socket at this path that other processes of this user can connect to. Closed on failure, with
/// the reason in errno. Not on Windows, where `LocalListener` makes a named pipe.
FileDescriptor listen_at_socket(const std::string& path);

// These wait until then, for ever without a time. They look at least once.

/// Adds what has come to the text. False at the end, on failure, or if nothing has come by then.
bool read_some(const FileDescriptor& connection, std::string& text, std::optional<Instant> by = {});

/// False on failure, or if not all of the text was taken by then.
bool write_all(const FileDescriptor& connection, std::string_view text,
               std::optional<Instant> by = {});

}  // namespace sitter
