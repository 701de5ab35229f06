#pragma once

#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Asks another bridge of this user, over its control socket, to end its server, and says that our
/// sitter_kill is the reason. Never waits. The descriptor is to be kept open until the bridge has
/// had time to read. It is closed if the bridge cannot be reached.
FileDescriptor ask_to_end_server(long bridge);

}  // namespace sitter
