#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sitter {

/// Holds SIGHUP and SIGUSR1 back until `unblock_signals`. Without a handler, they would end the
/// program, although the sender may only want a reload or the status. Call it first.
void hold_signals();

/// The words of the command line behind the name of the program, in UTF-8.
std::vector<std::string> program_words(int argc, char** argv);

/// Whether the words are an errand of a bridge, which is done then. Windows needs a process of its
/// own to send Ctrl+Break.
bool has_done_errand(const std::vector<std::string>& words);

/// Opens /dev/null in place of standard streams that the parent process has closed, so that no file
/// that is opened later gets their numbers. Call it before anything is opened. On Windows, it also
/// lets all bytes pass as they are, and a console take them as UTF-8.
void open_standard_streams();

/// Unblocks the signals that the bridge waits for: the signals that were held back, and signals
/// that the parent process has blocked (sigprocmask(2): the mask is inherited).
void unblock_signals();

/// Lets a write fail without ending this process if nobody reads any more (SIGPIPE), or if a file
/// has reached the size limit of the user (SIGXFSZ).
void survive_failed_writes();

/// A number from the system's source of randomness (getentropy(3), BCryptGenRandom), or 0 if there
/// is none.
/// std::random_device is not used because it asks the processor for its features, and answering
/// that makes a virtual machine exit to its host.
std::uint64_t random_seed();

/// Raises the number of descriptors that this process may have open (getrlimit(2), RLIMIT_NOFILE)
/// to `wanted`, or as far as its hard limit allows. Returns the limit that holds then, which may
/// have been higher before.
std::size_t raise_descriptor_limit(std::size_t wanted);

/// Gives this process the limit that it had before the limit was raised. May be used between fork
/// and exec.
// A child may close each descriptor that it could have, or use select(2).
void restore_descriptor_limit();

/// Makes a process that the bridge has forked independent of it, with a session and a title of its
/// own. It ignores the signals that are meant for the bridge. Its standard streams lead to
/// /dev/null, the descriptors `kept` come right after them in this order, and all others are
/// closed. Overwrites `kept`. Ends the process on failure.
void leave_the_bridge(const char* title, std::span<int> kept);

}  // namespace sitter
