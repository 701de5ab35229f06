#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "io/control/control_folder.hpp"
#include "io/control/local_socket.hpp"
#include "io/process/output_drain.hpp"
#include "io/system/posix.hpp"
#include "io/system/signals.hpp"
#include "io/system/startup.hpp"

namespace sitter {
namespace {

/// The descriptors that are kept come right after the standard descriptors: the pipe of the
/// bridge's life, then the input, output and error of the daemon, then the socket for later
/// bridges.
constexpr int kFirst = STDERR_FILENO + 1;
constexpr int kLife = kFirst;
constexpr int kInput = kFirst + 1;
constexpr int kOutput = kFirst + 2;
constexpr int kError = kFirst + 3;
constexpr int kListener = kFirst + 4;
constexpr std::size_t kPipes = 3;

/// A process that was stopped never answers.
constexpr timeval kAnswerWait{0, 500'000};

/// A message that hands the three pipes over, together with the number of the bytes that follow it.
struct Handover {
  explicit Handover(std::size_t count) : size(count) {
    message.msg_iov = &begin;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  std::size_t size;
  iovec begin{&size, sizeof size};
  alignas(cmsghdr) char control[CMSG_SPACE(kPipes * sizeof(int))] = {};
  msghdr message{};
};

class Drain {
 public:
  explicit Drain(bool listens) : listener_(listens ? kListener : kNone) {}

  /// Returns when the daemon has closed its outputs and no bridge has it.
  void run() {
    while (life_ != kNone || output_ != kNone || error_ != kNone) {
      const bool is_free = life_ == kNone;
      std::array<pollfd, 4> seen{
          pollfd{life_, POLLIN, 0}, pollfd{is_free ? output_ : kNone, POLLIN, 0},
          pollfd{is_free ? error_ : kNone, POLLIN, 0}, pollfd{listener_, POLLIN, 0}};
      if (poll(seen.data(), seen.size(), -1) < 0) continue;
      if (seen[0].revents != 0) on_life();
      if (seen[1].revents != 0 && read_from(output_) < 0) output_ = kNone;
      if (seen[2].revents != 0) on_error();
      if (seen[3].revents != 0) on_connection();
    }
  }

 private:
  static constexpr int kNone = -1;

  /// The bridge has ended, since it writes nothing.
  void on_life() {
    if (read_from(life_) >= 0) return;
    close(life_);
    life_ = kNone;
  }

  void on_error() {
    const ssize_t count = read_from(error_);
    if (count < 0) error_ = kNone;
    if (count <= 0) return;
    kept_.insert(kept_.end(), bytes_.begin(), bytes_.begin() + count);
    if (kept_.size() <= limits::kLeftErrorMax) return;
    kept_.erase(kept_.begin(), kept_.end() - static_cast<std::ptrdiff_t>(limits::kLeftErrorMax));
  }

  void on_connection() {
    FileDescriptor next(accept(listener_, nullptr, nullptr));
    if (!next.is_open() || life_ != kNone || !platform::is_own_peer(next.number())) return;
    if (!hand_over(next.number())) return;
    kept_.clear();
    life_ = next.release();
  }

  bool hand_over(int bridge) const {
    const int pipes[kPipes] = {kInput, kOutput, kError};
    Handover handover(kept_.size());
    cmsghdr* const rights = CMSG_FIRSTHDR(&handover.message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof pipes);
    std::memcpy(CMSG_DATA(rights), pipes, sizeof pipes);
    fcntl(bridge, F_SETFL, 0);
    setsockopt(bridge, SOL_SOCKET, SO_SNDTIMEO, &kAnswerWait, sizeof kAnswerWait);
    const ssize_t told = sendmsg(bridge, &handover.message, 0);
    if (told != static_cast<ssize_t>(sizeof handover.size)) return false;
    for (std::size_t sent = 0; sent < kept_.size();) {
      const ssize_t count = write(bridge, kept_.data() + sent, kept_.size() - sent);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }

  /// The number of bytes; negative at the end.
  ssize_t read_from(int descriptor) {
    const ssize_t count = read(descriptor, bytes_.data(), bytes_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    return count == 0 ? -1 : count;
  }

  int listener_;
  /// Ends with the bridge that has the pipes.
  int life_ = kLife;
  int output_ = kOutput;
  int error_ = kError;
  std::array<char, 16384> bytes_{};
  std::vector<char> kept_;
};

}  // namespace

std::optional<OutputDrain> OutputDrain::start(const Launched& daemon, const Files& files) {
  auto pipe = platform::open_pipe();
  if (!pipe) return std::nullopt;
  const FileDescriptor listener =
      files.socket.empty() ? FileDescriptor() : listen_at_socket(files.socket);
  SignalsBlocked blocked;
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    std::array kept{pipe->read_end.number(), daemon.input.number(), daemon.output.number(),
                    daemon.error.number(), listener.number()};
    leave_the_bridge("sitter-drain",
                     std::span(kept).first(listener.is_open() ? kept.size() : kept.size() - 1));
    Drain(listener.is_open()).run();
    for (const std::string& file : {files.record, files.socket}) {
      if (!file.empty()) remove_control_file(file);
    }
    // Nothing of the bridge must be destroyed or flushed here.
    _exit(0);
  }
  return OutputDrain(pid, std::move(pipe->write_end));
}

std::optional<OutputDrain::Taken> OutputDrain::take(const std::string& socket) {
  FileDescriptor connection = connect_to_socket(socket);
  if (!connection.is_open() || fcntl(connection.number(), F_SETFL, 0) != 0) return std::nullopt;
  setsockopt(connection.number(), SOL_SOCKET, SO_RCVTIMEO, &kAnswerWait, sizeof kAnswerWait);
  Handover handover(0);
  const ssize_t count = recvmsg(connection.number(), &handover.message, 0);
  const cmsghdr* const rights = count <= 0 ? nullptr : CMSG_FIRSTHDR(&handover.message);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS ||
      rights->cmsg_len != CMSG_LEN(kPipes * sizeof(int))) {
    return std::nullopt;
  }
  int pipes[kPipes];
  std::memcpy(pipes, CMSG_DATA(rights), sizeof pipes);
  Launched daemon{0, FileDescriptor(pipes[0]), FileDescriptor(pipes[1]), FileDescriptor(pipes[2])};
  for (const int pipe : pipes) fcntl(pipe, F_SETFD, FD_CLOEXEC);
  const std::size_t size = handover.size;
  if (count != static_cast<ssize_t>(sizeof size) || size > limits::kLeftErrorMax) {
    return std::nullopt;
  }
  std::string error(size, '\0');
  if (size > 0 &&
      recv(connection.number(), error.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) {
    return std::nullopt;
  }
  return Taken{std::move(daemon), OutputDrain(0, std::move(connection)), std::move(error)};
}

}  // namespace sitter
