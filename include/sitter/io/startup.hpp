#pragma once

#include <cstdint>

namespace sitter {

/// Fills the places of standard streams that whoever started us has closed, so that nothing that is
/// opened later takes them. To be called first.
void open_standard_streams();

/// Whoever started us may have blocked the signals that we wait for (sigprocmask(2): the mask is
/// inherited).
void unblock_signals();

/// A number from the system's source of randomness (getentropy(3)), 0 if it has none. It is not
/// std::random_device because that asks the processor what it can do, and a virtual machine has to
/// leave to answer.
std::uint64_t random_seed();

}  // namespace sitter
