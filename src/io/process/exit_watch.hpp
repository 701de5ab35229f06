#pragma once

#include <functional>
#include <utility>

#include "io/stream/event_loop.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Sees the exit of a process that this one cannot reap, or not yet.
class ExitWatch final : private EventLoop::Reader {
 public:
  /// `exit` becomes readable at the exit; see `platform::exit_of`. `on_exit` is called from the
  /// loop, once.
  ExitWatch(EventLoop& loop, FileDescriptor exit, std::function<void()> on_exit)
      : loop_(loop), exit_(std::move(exit)), on_exit_(std::move(on_exit)) {
    loop_.watch(exit_.number(), *this);
  }
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
  ~ExitWatch() { loop_.forget(*this); }

 private:
  Seen on_readable() override {
    loop_.forget(*this);
    on_exit_();
    return Seen::nothing;
  }

  EventLoop& loop_;
  FileDescriptor exit_;
  std::function<void()> on_exit_;
};

}  // namespace sitter
