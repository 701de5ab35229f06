#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// So many calls that were sent last are kept for the case that a server refuses one of them as not
/// opened. A model makes fewer calls at once. A program that has more requests in flight does not
/// pay for copies.
inline constexpr std::size_t kSentLinesMax = 16;

/// A longer call is not kept. The arguments of few calls are a tenth as long.
inline constexpr std::size_t kSentLineMax = 64 * kKiB;

}  // namespace limits

/// The lines of the last requests that were sent to a child and may not be carried out twice. One
/// of them is needed again if a server refuses it as not opened. The buffers are used again and
/// again, because each call pays for this.
class SentLines {
 public:
  /// Keeps a copy in the place of the oldest line. A line of more than `limits::kSentLineMax` bytes
  /// is not kept.
  void keep(std::uint64_t order, std::string_view line) {
    if (line.size() > limits::kSentLineMax) return;
    Sent& place = sent_[next_++ % sent_.size()];
    place.order = order;
    place.line.assign(line);
  }

  /// The line of this request, valid until the next `keep`. Empty if it was not kept.
  std::string_view find(std::uint64_t order) const {
    for (const Sent& sent : sent_) {
      if (sent.order == order) return sent.line;
    }
    return {};
  }

 private:
  struct Sent {
    std::uint64_t order = 0;
    std::string line;
  };

  std::array<Sent, limits::kSentLinesMax> sent_;
  std::size_t next_ = 0;
};

}  // namespace sitter
