#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

#include "io/stream/file_descriptor.hpp"

/// The few calls that Linux and macOS do not share. All may be used between fork and exec, except
/// open_pipe.
namespace sitter::platform {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Both ends are closed at an exec. Empty: errno says why.
std::optional<Pipe> open_pipe();

/// Lets the pipe hold more, where the system allows it.
void enlarge_pipe(int descriptor);

/// Marks every descriptor from `first` on to be closed at an exec.
void close_from_at_exec(int first);

void close_from(int first);

/// Has this process killed when `parent` ends. False if `parent` has ended already.
bool die_with_parent(int parent);

bool become_subreaper();

/// Sets what `lock_limit_of` finds, in this process and all that it will start. Does nothing on
/// systems that have no such thing, or do not let it be set.
void set_lock_limit(std::uint64_t limit);

/// Whether the system itself has sent the signal, and no process.
bool is_from_system(const siginfo_t& info);

/// Whether a process of our own user is at the other end of a local socket.
bool is_own_peer(int socket);

/// What a list of processes shows for this one; at most 15 bytes are sure to be seen.
void set_process_title(const char* title);

}  // namespace sitter::platform
