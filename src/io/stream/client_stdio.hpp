#pragma once

#include "io/stream/file_descriptor.hpp"

namespace sitter {

/// Our stdin and stdout, made ready for reading and writing without waiting. The two are shared
/// with others (a terminal with the shell, a pipe with whoever has a copy), so their flags are put
/// back at the end, and a terminal is opened anew instead of being changed.
class ClientStdio {
 public:
  ClientStdio();
  ClientStdio(const ClientStdio&) = delete;
  ClientStdio& operator=(const ClientStdio&) = delete;
  ~ClientStdio();

  /// Each can be taken once. Closed when there was no such stream.
  FileDescriptor take_input() { return std::move(input_); }
  FileDescriptor take_output() { return std::move(output_); }

 private:
  FileDescriptor input_;
  FileDescriptor output_;
  /// Flags as they were, or -1.
  int input_flags_ = -1;
  int output_flags_ = -1;
};

}  // namespace sitter
