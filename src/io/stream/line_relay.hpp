#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/wire/line_framer.hpp"
#include "io/stream/stream_writer.hpp"
#include "sitter/bytes.hpp"
#include "sitter/line.hpp"

namespace sitter {

/// Takes lines from framers to writers. A large line that passes is not copied.
class LineRelay {
 public:
  /// Calls `tell` for each frame that is complete.
  template <class Tell>
  void each_frame(LineFramer& framer, Tell tell) {
    source_ = &framer;
    while (const auto frame = framer.next()) tell(*frame);
    source_ = nullptr;
  }

  void put(const Outgoing& line, StreamWriter& writer) const {
    if (line.is_unchanged()) {
      writer.append_line(line.head, holder_of(line.head));
      return;
    }
    writer.append(line.head, holder_of(line.head));
    writer.append(line.middle);
    writer.append_line(line.tail, holder_of(line.tail));
  }

 private:
  /// Lines of this size or more stay in the read buffer until the other side has taken them. A copy
  /// of a smaller line is cheap, and fits into memory that is there already.
  static constexpr std::size_t kHeldFrom = 64 * limits::kKiB;

  /// The buffer that holds a large piece of the line that is being passed on.
  std::shared_ptr<const void> holder_of(std::string_view piece) const {
    const bool is_passed =
        piece.size() >= kHeldFrom && source_ != nullptr && source_->is_worth_holding(piece);
    return is_passed ? source_->buffer() : nullptr;
  }

  /// The framer whose lines are being told.
  const LineFramer* source_ = nullptr;
};

}  // namespace sitter
