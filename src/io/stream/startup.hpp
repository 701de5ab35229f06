#pragma once

#include <cstdint>

namespace sitter {

/// SIGHUP and SIGUSR1 would end a program that has no handler for them yet, and somebody may
/// already want a reload or the status. They are kept until `unblock_signals`. To be called first.
void hold_signals();

/// Fills the places of standard streams that whoever started us has closed, so that nothing that is
/// opened later takes them. To be called before anything is opened.
void open_standard_streams();

/// Lets the signals come that we wait for: those that were held, and those that whoever started us
/// has blocked (sigprocmask(2): the mask is inherited).
void unblock_signals();

/// A number from the system's source of randomness (getentropy(3)), 0 if it has none. It is not
/// std::random_device because that asks the processor what it can do, and a virtual machine has to
/// leave to answer.
std::uint64_t random_seed();

}  // namespace sitter
