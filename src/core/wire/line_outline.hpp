#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/bytes.hpp"
#include "sitter/line.hpp"

namespace sitter {

namespace limits {

/// A line up to this size is read when it is complete: one read brings as much, so all of it is
/// still in the cache of the processor.
inline constexpr std::size_t kOutlinedFrom = 64 * kKiB;

/// A piece of this size and the index of its JSON stay in the second cache of the processor.
inline constexpr std::size_t kOutlinePiece = 32 * kKiB;

/// A shorter range is copied and read again sooner than it is skipped.
inline constexpr std::size_t kOutlineGapMin = kKiB;

}  // namespace limits

/// A long line that is valid JSON (RFC 8259) in UTF-8, and its parts that nobody needs to read
/// again: the contents of containers in the fourth level, and of values in the third level that are
/// strings.
struct LineOutline {
  struct Gap {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<Gap> gaps;
};

/// Reads a long line piece by piece while it comes in. Afterwards only a small part of the line has
/// to be read again, when most of it has left the cache of the processor.
class OutlineReader {
 public:
  explicit OutlineReader(std::size_t piece = limits::kOutlinePiece,
                         std::size_t gap_min = limits::kOutlineGapMin);
  ~OutlineReader();
  OutlineReader(OutlineReader&&) noexcept;
  OutlineReader& operator=(OutlineReader&&) noexcept;

  /// The line has grown to this size, or is complete. The bytes beside a piece, of which one may be
  /// the byte behind the line, are overwritten and restored.
  void read(char* line, std::size_t size, bool is_complete);
  /// Null if the line is not complete, if something is wrong with it, or if it has too few long
  /// parts.
  const LineOutline* outline() const { return state_ == State::complete ? &outline_ : nullptr; }
  /// Another line follows.
  void restart();

 private:
  enum class State : std::uint8_t { reading, complete, refused };
  /// What the next token must be. `more` is a comma or the end of the container, and the end of the
  /// text if no container is open.
  enum class Expected : std::uint8_t { value, first_value, key, first_key, colon, more };
  struct Parser;

  bool read_piece(char* line, std::size_t end);
  bool follow(const char* line, std::size_t begin, std::span<const std::uint32_t> index);
  bool end_token(const char* line, std::size_t next);
  bool begin_token(char c, std::size_t at);
  void add_gap(std::size_t begin, std::size_t end);

  std::size_t piece_;
  std::size_t gap_min_;
  std::unique_ptr<Parser> parser_;  // null before the first long line
  State state_ = State::reading;
  LineOutline outline_;
  std::size_t skipped_ = 0;    // the bytes of all gaps
  std::size_t read_to_ = 0;    // the bytes before this place have been read
  bool is_in_string_ = false;  // there
  std::string ends_;           // the closing brackets of the containers that are open there
  Expected expected_ = Expected::value;
  std::size_t opened_at_ = 0;  // where the content of the open container in the fourth level begins
  std::size_t string_at_ = 0;  // where the last string begins if it may be left out, or 0
  std::size_t scalar_at_ = 0;  // where the last token begins if it is another scalar, or 0
};

/// A long line without its gaps, which is read in its place.
class Skeleton {
 public:
  /// Both must outlive this object.
  Skeleton(std::string_view whole, const LineOutline& outline);

  Line line() const { return text_.line(); }
  /// A part of the skeleton as the part of the whole line. Any other view is returned as it is.
  std::string_view in_whole(std::string_view part) const;

 private:
  enum class Side : std::uint8_t { begin, end };
  std::size_t place(std::size_t at, Side side) const;

  std::string_view whole_;
  const LineOutline& outline_;
  OwnedLine text_;
};

}  // namespace sitter
