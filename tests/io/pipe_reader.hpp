#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

#include "io/stream/event_loop.hpp"
#include "io/system/posix.hpp"

namespace sitter {

struct Pipe {
  Pipe() {
    auto ends = platform::open_pipe();
    if (!ends) return;
    output = std::move(ends->read_end);
    input = std::move(ends->write_end);
    for (const int end : {output.number(), input.number()}) fcntl(end, F_SETFL, O_NONBLOCK);
  }
  void write(const std::string& text) const {
    ASSERT_EQ(::write(input.number(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  FileDescriptor input;
  FileDescriptor output;
};

/// Reads one byte of a pipe each time that it is called.
struct ByteReader final : EventLoop::Reader {
  ByteReader(EventLoop& of, const Pipe& from, std::function<void()> called)
      : loop(of), output(from.output.number()), on_called(std::move(called)) {
    loop.watch(output, *this);
  }
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;
  ~ByteReader() { loop.forget(*this); }

  Seen on_readable() override {
    char byte = 0;
    if (::read(output, &byte, 1) != 1) return Seen::nothing;
    on_called();
    return Seen::filled;
  }

  EventLoop& loop;
  int output;
  std::function<void()> on_called;
};

}  // namespace sitter
