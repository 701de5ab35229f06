#pragma once

#include <optional>

#include "sitter/http.hpp"

namespace sitter {

struct TcpAddress;

/// The socket that gets new connections to this address of this machine. `kNoListener` if the
/// address is not a loopback address, if nothing listens there, if several sockets share the
/// address, or if the system does not tell. Takes a few system calls, and never waits.
ListenerId listener_at(const TcpAddress& address);

/// A process that has this socket open, the one with the lowest pid if there are several; on
/// Windows the process that opened it. Looks at all descriptors of all processes, so it takes
/// milliseconds. Empty if there is none, or if it belongs to another user.
std::optional<long> pid_of(ListenerId listener);

}  // namespace sitter
