#pragma once

#include <functional>

#include "io/stream/event_loop.hpp"
#include "io/stream/file_descriptor.hpp"

namespace sitter {

/// Tells who has sent SIGHUP (sigaction(2), SA_SIGINFO): the system, whose terminal is gone, or
/// somebody who wants something. At most one at a time.
class HangupSignals final : private EventLoop::Reader {
 public:
  enum class Sender : char { system, somebody };

  HangupSignals(EventLoop& loop, std::function<void(Sender)> on_signal);
  HangupSignals(const HangupSignals&) = delete;
  HangupSignals& operator=(const HangupSignals&) = delete;
  /// SIGHUP has its default meaning again.
  ~HangupSignals();

 private:
  Seen on_readable() override;

  EventLoop& loop_;
  std::function<void(Sender)> on_signal_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

}  // namespace sitter
