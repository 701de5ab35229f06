#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "sitter/bytes.hpp"

namespace sitter {

/// Bytes that wait to be written, in a chain of blocks: it grows without copying its content, and
/// what `front` has returned stays where it is until it is taken.
class WriteQueue {
 public:
  /// A piece of this size or more is large: copying a smaller piece costs less than a separate
  /// write.
  static constexpr std::size_t kLarge = 64 * limits::kKiB;

  /// In bytes.
  std::size_t size() const { return size_; }

  /// A large piece with a holder, which keeps it alive, is not copied.
  void append(std::string_view piece, const std::shared_ptr<const void>& holder);
  /// Appends a small piece and a line end, if the last block has room for both.
  bool append_line(std::string_view piece);

  /// The bytes to be written next. Empty if nothing waits.
  std::string_view front() const;
  /// So many bytes of `front` were written.
  void take(std::size_t count);

  void clear();

 private:
  struct Block {
    std::string own;
    /// If it is not null, the block is the piece `held`, which this holder keeps alive, and not
    /// `own`.
    std::shared_ptr<const void> holder;
    std::string_view held{};

    std::string_view text() const { return holder ? held : std::string_view(own); }
    bool has_room(std::size_t size) const { return !holder && own.capacity() - own.size() >= size; }
  };

  bool has_room(std::size_t size) const {
    return !blocks_.empty() && blocks_.back().has_room(size);
  }

  std::list<Block> blocks_;
  std::size_t written_ = 0;  // bytes of the first block
  std::size_t size_ = 0;
  bool has_grown_ = false;  // beyond its first block
};

}  // namespace sitter
