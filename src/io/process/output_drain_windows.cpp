#include "io/process/output_drain.hpp"

namespace sitter {

// There is no such process here. On Windows a write into a pipe without a reader fails, and ends no
// process by itself: a daemon that outlives the bridge loses what it writes, and goes on if it
// ignores the error (ERROR_NO_DATA; EPIPE or EINVAL in the C runtime). No later bridge can take its
// pipes, so a later session only connects to it.

std::optional<OutputDrain> OutputDrain::start(const Launched&, const Files&) {
  return std::nullopt;
}

std::optional<OutputDrain::Taken> OutputDrain::take(const std::string&) { return std::nullopt; }

}  // namespace sitter
