#include "io/stream/write_queue.hpp"

#include <algorithm>
#include <utility>

namespace sitter {
namespace {

/// The output of one read fits into a block, and then leaves in one write.
constexpr std::size_t kBlock = 256 * limits::kKiB;

}  // namespace

void WriteQueue::append(std::string_view piece, const std::shared_ptr<const void>& holder) {
  if (piece.size() >= kLarge && holder) {
    blocks_.push_back({{}, holder, piece});
  } else {
    if (!has_room(piece.size())) {
      has_grown_ = !blocks_.empty() || piece.size() > kBlock;
      // A line end may follow.
      blocks_.emplace_back().own.reserve(std::max(kBlock, piece.size() + 1));
    }
    blocks_.back().own.append(piece);
  }
  size_ += piece.size();
}

bool WriteQueue::append_line(std::string_view piece) {
  if (piece.size() >= kLarge || !has_room(piece.size() + 1)) return false;
  blocks_.back().own.append(piece).push_back('\n');
  size_ += piece.size() + 1;
  return true;
}

std::string_view WriteQueue::front() const {
  return blocks_.empty() ? std::string_view() : blocks_.front().text().substr(written_);
}

void WriteQueue::take(std::size_t count) {
  written_ += count;
  size_ -= count;
  if (written_ < blocks_.front().text().size()) return;
  written_ = 0;
  if (blocks_.size() > 1) blocks_.pop_front();
  if (size_ > 0) return;
  // One block is kept, since another line usually follows. The last block of a long chain is not
  // kept, because its place in memory may keep the C library from returning the memory of the
  // others.
  blocks_.front().own.clear();
  if (blocks_.front().holder || std::exchange(has_grown_, false)) blocks_.clear();
}

void WriteQueue::clear() {
  blocks_.clear();
  written_ = 0;
  size_ = 0;
}

}  // namespace sitter
