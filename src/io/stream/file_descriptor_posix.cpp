#include <unistd.h>

#include "io/stream/file_descriptor.hpp"

namespace sitter {

void FileDescriptor::close() {
  // Not repeated after EINTR: the number is free by then and may be somebody else's.
  if (is_open()) ::close(release());
}

}  // namespace sitter
