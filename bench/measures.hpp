#pragma once

#include "run.hpp"

/// What is measured. Each of these adds rows to the table of its case.
namespace sitter::bench {

/// One call after the other, each after the answer to the call before.
void round_trip(Run& run);
/// All calls as fast as the program takes them, written in pieces of 64 KiB.
void pipelined(Run& run);
/// As many calls at once as the bridge runs of a tool.
void at_once(Run& run);
/// Few calls one after the other, with memory and page faults.
void large(Run& run);
void memory(Run& run);
void start_to_initialize(Run& run);
void start_to_list(Run& run);
/// The daemon comes back while a call waits for it.
void comeback(Run& run);
/// Many calls come while the daemon is away.
void absence(Run& run);

}  // namespace sitter::bench
