#pragma once

#include <functional>

#include "io/stream/event_loop.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Reports each SIGHUP and its sender (sigaction(2), SA_SIGINFO): the system, because the terminal
/// is gone, or a process that wants a reload. There may be only one such object at a time.
class HangupSignals final : private EventLoop::Reader {
 public:
  enum class Sender : char { system, somebody };

  HangupSignals(EventLoop& loop, std::function<void(Sender)> on_signal);
  HangupSignals(const HangupSignals&) = delete;
  HangupSignals& operator=(const HangupSignals&) = delete;
  /// Gives SIGHUP its default meaning again.
  ~HangupSignals();

 private:
  Seen on_readable() override;

  EventLoop& loop_;
  std::function<void(Sender)> on_signal_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

}  // namespace sitter
