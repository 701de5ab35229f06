#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "io/process/hangup.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

/// The descriptor that the handler writes to. A signal handler may use little else.
volatile sig_atomic_t handler_pipe = -1;

void on_hangup(int, siginfo_t* info, void*) {
  const int error = errno;
  const auto sender = platform::is_from_system(*info) ? HangupSignals::Sender::system
                                                      : HangupSignals::Sender::somebody;
  // If the pipe is full, enough signals are waiting in it.
  [[maybe_unused]] const ssize_t ignored = write(handler_pipe, &sender, sizeof sender);
  errno = error;
}

}  // namespace

HangupSignals::HangupSignals(EventLoop& loop, std::function<void(Sender)> on_signal)
    : loop_(loop), on_signal_(std::move(on_signal)) {
  auto pipe = platform::open_pipe();
  // Without a pipe, SIGHUP ends the bridge, and then the keeper ends the other processes.
  if (!pipe) return;
  read_end_ = std::move(pipe->read_end);
  write_end_ = std::move(pipe->write_end);
  for (const int end : {read_end_.number(), write_end_.number()}) fcntl(end, F_SETFL, O_NONBLOCK);
  handler_pipe = write_end_.number();
  struct sigaction action {};
  action.sa_sigaction = on_hangup;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
  loop_.watch(read_end_.number(), *this);
}

HangupSignals::~HangupSignals() {
  if (!read_end_.is_open()) return;
  std::signal(SIGHUP, SIG_DFL);
  loop_.forget(*this);
}

EventLoop::Reader::Seen HangupSignals::on_readable() {
  Sender sender{};
  if (read(read_end_.number(), &sender, sizeof sender) != sizeof sender) return Seen::nothing;
  on_signal_(sender);
  return Seen::filled;
}

}  // namespace sitter
