#include <unistd.h>

#include "io/system/file_descriptor.hpp"

namespace sitter {

void FileDescriptor::close() {
  // The call is not repeated after EINTR: by then the number is free and may name another file.
  if (is_open()) ::close(release());
}

}  // namespace sitter
