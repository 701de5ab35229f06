#pragma once

#include <sys/stat.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/system/file_descriptor.hpp"
#include "io/system/platform.hpp"

/// The few calls that differ between Linux and macOS. All of them but those that return a string or
/// a pipe may be used between fork and exec.
namespace sitter::platform {

/// The option of a TCP socket that sets how many seconds of silence the system waits before it asks
/// the other side.
extern const int kTcpSilenceOption;

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Both ends are closed at an exec. Empty on failure, with the reason in errno.
std::optional<Pipe> open_pipe();

/// Makes the pipe hold more, if the system allows it.
void enlarge_pipe(int descriptor);

constexpr int kNoDescriptor = -1;

/// Closes every descriptor from `first` on, at the latest at an exec; `kept` stays open until then.
void close_from_at_exec(int first, int kept = kNoDescriptor);

void close_from(int first);

/// Makes the system kill this process when `parent` ends. False if `parent` has ended already.
bool die_with_parent(int parent);

/// Makes this process stop, traced by its parent, when the next program is loaded. False on
/// failure, with the reason in errno.
bool stop_at_exec();

/// Ends the tracing of a child that has stopped at its exec. The child stays stopped, as by
/// SIGSTOP.
void detach_stopped(int pid);

/// Sets the limit that `lock_limit_of` reads, for this process and all processes that it starts.
/// Does nothing on systems without this limit, or if the system refuses to set it.
void set_lock_limit(std::uint64_t limit);

/// Whether the system itself has sent the signal, and not a process.
bool is_from_system(const siginfo_t& info);

/// Whether the process at the other end of a local socket belongs to our own user.
bool is_own_peer(int socket);

/// When the entries of the folder, or the bytes of the file, were last changed.
timespec written_at(const struct stat& status);

/// When anything about the file was last changed, such as its bytes, its name or its mode.
timespec changed_at(const struct stat& status);

/// The folder for temporary files that the system keeps for this user, whatever the environment
/// says, without a slash at the end. Empty on systems without such a folder.
std::string temporary_folder_of_user();

/// Sets the name that a list of processes shows for this process. Only its first 15 bytes are sure
/// to be visible. macOS shows it only in a list of threads.
void set_process_title(const char* title);

/// A descriptor that becomes readable when the process exits, whosever child it is. Closed if the
/// process is gone or the system refuses.
FileDescriptor exit_of(long pid);

/// The memory is to be filled with as few page faults as the system can do with.
void prefer_huge_pages(void* memory, std::size_t size);

}  // namespace sitter::platform
