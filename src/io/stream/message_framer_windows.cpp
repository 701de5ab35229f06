#include "io/stream/message_framer.hpp"

namespace sitter {

LineFramer message_framer() {
  return LineFramer(limits::kLineMax, limits::kLineEndKept, LineFramer::Ends::newlines);
}

}  // namespace sitter
