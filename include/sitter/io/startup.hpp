#pragma once

namespace sitter {

/// Fills the places of standard streams that whoever started us has closed, so that nothing that is
/// opened later takes them. To be called first.
void open_standard_streams();

/// Whoever started us may have blocked the signals that we wait for (sigprocmask(2): the mask is
/// inherited).
void unblock_signals();

}  // namespace sitter
