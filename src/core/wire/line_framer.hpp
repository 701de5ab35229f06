#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/wire/message_scan.hpp"
#include "core/wire/room.hpp"
#include "sitter/line.hpp"

namespace sitter {

/// Splits bytes into lines. The shell reads straight into the framer's buffer and takes the lines
/// out. Nothing is copied but the beginning of a line that a read has cut. Blank lines, a carriage
/// return before the line end and a byte order mark at the start are skipped. A line that takes
/// several reads comes with the places of its values.
///
/// The memory of a long line stays for the next one: new memory would cost a page fault for each of
/// its pages, which takes longer than reading into it. The shell gives it back with `release`.
///
/// A line over the limit is not kept, and neither is a line for which there is no memory. Only the
/// two ends of such a line come out: when its end is read, or when it has become twice as long as
/// the limit.
class LineFramer {
 public:
  struct Frame {
    Line line;                ///< empty when the line was not kept
    std::uint64_t size = 0;   ///< the size in bytes of a line that was not kept, otherwise 0
    std::string_view head{};  ///< the first bytes of that line
    std::string_view tail{};  ///< the last bytes of that line, which do not overlap with the head
  };

  enum class Ends : std::uint8_t {
    newlines,
    /// A progress bar on stderr may end its updates only with carriage returns. A line that such a
    /// return ends keeps it: the next line overwrites this one.
    also_returns,
  };

  /// `kept` is the size of each end that is kept of a line over the limit.
  explicit LineFramer(std::size_t line_max = limits::kLineMax,
                      std::size_t kept = limits::kLineEndKept, Ends ends = Ends::newlines,
                      LineMemory memory = {})
      : line_max_(line_max), kept_(kept), ends_(ends), memory_(memory) {}

  /// The memory of the lines that were given out. As long as the caller holds it, these lines stay
  /// valid.
  std::shared_ptr<const void> buffer() const { return buffer_; }
  /// Whether the buffer is worth holding for this piece, because it takes up nearly the whole used
  /// part of the buffer, and a good part of what was ever used. Of two buffers, one may be held: so
  /// the pieces that wait for a slow reader take hardly more memory than they need.
  bool is_worth_holding(std::string_view piece) const {
    return buffer_ && other_.use_count() < 2 && piece.data() >= buffer_->bytes &&
           piece.data() < buffer_->bytes + end_ && piece.size() >= end_ - end_ / 16 &&
           (!is_large(buffer_) || piece.size() >= buffer_->used / 8);
  }

  /// Whether there is memory that only long lines need.
  bool keeps_memory() const { return is_large(buffer_) || is_large(other_); }
  /// Whether a long line has been read since the last call.
  bool take_long_line_seen() { return std::exchange(is_long_line_seen_, false); }
  /// Gives this memory back, unless a line is being read into it. Lines that were given out become
  /// invalid, unless the caller holds the buffer.
  void release();

  /// Where the next read may put bytes; never empty. Lines that were given out become invalid,
  /// unless the caller holds the buffer.
  std::span<char> space();
  /// `count` bytes were written at the beginning of `space()`.
  void filled(std::size_t count);

  /// The next complete line. It is valid until `space()` is called, and its places until `next()`
  /// is.
  std::optional<Frame> next();

  /// After the end of input: the text after the last line end, if it is not blank.
  std::optional<Frame> rest();

 private:
  struct Buffer {
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
      if (bytes != nullptr) memory.give_back(bytes, capacity + limits::kLinePadding);
    }

    LineMemory memory;
    char* bytes = nullptr;
    std::size_t capacity = 0;  // without the padding
    std::size_t used = 0;      // the bytes from the beginning that were ever read into
  };

  static bool is_large(const std::shared_ptr<Buffer>& buffer);
  std::size_t capacity() const { return buffer_ ? buffer_->capacity : 0; }

  std::size_t line_end();
  std::size_t line_end_before(std::size_t end);
  void scan_line(std::size_t end, bool is_complete);
  void give_up_line();
  void start_buffer();
  bool move(std::size_t capacity);
  std::shared_ptr<Buffer> buffer_of(std::size_t capacity);
  bool can_hold(std::size_t size) const;
  void discard(std::size_t end);
  std::optional<Frame> framed(std::size_t end, bool is_overwritten = false);

  std::size_t line_max_;
  std::size_t kept_;
  Ends ends_;
  LineMemory memory_;
  std::shared_ptr<Buffer> buffer_;  // null only while there is no capacity
  std::shared_ptr<Buffer> other_;   // for later; somebody may still hold it
  std::size_t begin_ = 0;           // where the line that is being read begins
  std::size_t scanned_ = 0;         // there is no line end before this place
  std::size_t end_ = 0;             // where the bytes that were read end
  bool at_start_ = true;            // a byte order mark may follow
  bool is_long_line_seen_ = false;

  TooLong too_long_;
  MessageScan scan_;
  bool is_scan_over_ = false;  // the line has ended
};

}  // namespace sitter
