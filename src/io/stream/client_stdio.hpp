#pragma once

#include "io/system/file_descriptor.hpp"

namespace sitter {

/// Our stdin and stdout, prepared for reading and writing without waiting. Other processes may
/// share both (a terminal with the shell, a pipe with every process that has a copy). So their
/// flags are restored at the end, and a terminal is opened anew instead of being changed.
class ClientStdio {
 public:
  ClientStdio();
  ClientStdio(const ClientStdio&) = delete;
  ClientStdio& operator=(const ClientStdio&) = delete;
  ~ClientStdio();

  /// Each of them can be taken once. If there was no such stream, the descriptor leads to
  /// /dev/null.
  FileDescriptor take_input() { return std::move(input_); }
  FileDescriptor take_output() { return std::move(output_); }

 private:
  FileDescriptor input_;
  FileDescriptor output_;
  /// The original flags, or -1.
  int input_flags_ = -1;
  int output_flags_ = -1;
};

}  // namespace sitter
