#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sitter/limits.hpp"
#include "sitter/line.hpp"

namespace sitter {

/// Bytes to lines. The shell reads straight into the framer's buffer and takes the lines out;
/// nothing is copied but the beginning of a line that a read has cut. Blank lines, a carriage
/// return before the line end and a byte order mark at the start are skipped.
///
/// A line over the limit is not kept: only its two ends come out, when its end comes or when it has
/// become twice as long as the limit. So is one for which there is no memory.
class LineFramer {
 public:
  struct Frame {
    Line line;                ///< empty when the line was not kept
    std::uint64_t size = 0;   ///< 0, or the size of a line that was not kept, in bytes
    std::string_view head{};  ///< its first bytes
    std::string_view tail{};  ///< its last bytes; do not overlap with the first
  };

  enum class Ends : std::uint8_t {
    newlines,
    /// A progress bar on stderr ends what it writes with carriage returns only.
    also_returns,
  };

  /// Whether this many bytes can be allocated. A limit of the user may be far below what the
  /// machine has (setrlimit(2), RLIMIT_AS).
  using HasRoom = bool (*)(std::size_t bytes);
  static bool has_room(std::size_t bytes);

  /// `kept` is what is kept of each end of a longer line.
  explicit LineFramer(std::size_t line_max = limits::kLineMax,
                      std::size_t kept = limits::kLineEndKept, Ends ends = Ends::newlines,
                      HasRoom asked = has_room)
      : line_max_(line_max), kept_(kept), ends_(ends), has_room_(asked) {}

  /// What the lines that were given out stand in. Whoever holds it keeps them where they are.
  std::shared_ptr<const void> buffer() const { return buffer_; }
  /// The piece stands in the buffer, and hardly anything else does, so that holding the buffer
  /// takes hardly more memory than the piece.
  bool is_filled_by(std::string_view piece) const {
    return buffer_ && piece.data() >= buffer_->bytes && piece.data() < buffer_->bytes + end_ &&
           piece.size() >= end_ - end_ / 16;
  }

  /// Gives back the memory of a long line that was taken out. Invalidates the lines that were given
  /// out, unless the buffer is held.
  void shrink();

  /// Where the next read may put bytes; never empty. Invalidates the lines that were given out,
  /// unless the buffer is held.
  std::span<char> space();
  /// `count` bytes were put at the beginning of `space()`.
  void filled(std::size_t count);

  /// The next complete line. Valid until `space()` is called.
  std::optional<Frame> next();

  /// After the end of input: what stands behind the last line end, if it is not blank.
  std::optional<Frame> rest();

 private:
  struct Buffer {
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(bytes); }

    char* bytes = nullptr;
  };

  const char* line_end() const;
  void leave_to_holder();
  bool resize(std::size_t capacity);
  bool can_hold(std::size_t size) const;
  void discard(std::size_t end);
  std::optional<Frame> framed(std::size_t end);

  std::size_t line_max_;
  std::size_t kept_;
  Ends ends_;
  HasRoom has_room_;
  std::shared_ptr<Buffer> buffer_;  // null only while there is no capacity
  std::size_t capacity_ = 0;        // without the padding
  std::size_t begin_ = 0;           // of the line that is being read
  std::size_t scanned_ = 0;         // no line end before this
  std::size_t end_ = 0;             // of what was read
  bool at_start_ = true;            // a byte order mark may follow

  // Of the line that is too long. Its size is 0 while there is none.
  std::uint64_t long_size_ = 0;
  bool long_told_ = false;
  std::string long_head_;
  std::string long_tail_;
};

}  // namespace sitter
