#pragma once

#include <cstdint>

namespace sitter {

/// Holds SIGHUP and SIGUSR1 back until `unblock_signals`. Without a handler, they would end the
/// program, although the sender may only want a reload or the status. Call it first.
void hold_signals();

/// Opens /dev/null in place of standard streams that the parent process has closed, so that no file
/// that is opened later gets their numbers. Call it before anything is opened.
void open_standard_streams();

/// Unblocks the signals that the bridge waits for: the signals that were held back, and signals
/// that the parent process has blocked (sigprocmask(2): the mask is inherited).
void unblock_signals();

/// A number from the system's source of randomness (getentropy(3)), or 0 if there is none.
/// std::random_device is not used because it asks the processor for its features, and answering
/// that makes a virtual machine exit to its host.
std::uint64_t random_seed();

}  // namespace sitter
