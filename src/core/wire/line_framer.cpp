#include "core/wire/line_framer.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// What a pipe holds by default, so one read can empty it.
constexpr std::size_t kBufferMin = 64 * limits::kKiB;

/// A read into less room than this is not worth the call.
constexpr std::size_t kReadMin = 4 * limits::kKiB;

/// A read of more would leave the cache of the processor before it is looked at.
constexpr std::size_t kReadMax = 256 * limits::kKiB;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool LineFramer::is_large(const std::shared_ptr<Buffer>& buffer) {
  return buffer && buffer->capacity > kBufferMin;
}

void LineFramer::release() {
  other_.reset();
  if (begin_ != end_ || !is_large(buffer_)) return;
  begin_ = scanned_ = end_ = 0;
  buffer_.reset();
  scan_ = MessageScan();
}

/// A buffer of this capacity or more; null if there is no memory.
std::shared_ptr<LineFramer::Buffer> LineFramer::buffer_of(std::size_t capacity) {
  if (other_ && other_.use_count() == 1 && other_->capacity >= capacity) {
    return std::exchange(other_, nullptr);
  }
  auto buffer = std::make_shared<Buffer>();
  // A short line needs no memory that can grow.
  if (capacity > kBufferMin) buffer->memory = memory_;
  const std::size_t most = std::max(capacity, line_max_ + kBufferMin);
  buffer->bytes = buffer->memory.take(capacity + limits::kLinePadding, most + limits::kLinePadding,
                                      buffer->capacity);
  if (buffer->bytes == nullptr) return nullptr;
  buffer->capacity -= limits::kLinePadding;
  return buffer;
}

/// Goes on in a buffer of this capacity or more, with the bytes that were not taken out yet.
/// Returns false and changes nothing if there is no memory.
bool LineFramer::move(std::size_t capacity) {
  std::shared_ptr<Buffer> next = buffer_of(capacity);
  if (!next) return false;
  if (buffer_) std::memcpy(next->bytes, buffer_->bytes + begin_, end_ - begin_);
  // What somebody still holds is large enough for the next long line.
  if (buffer_.use_count() > 1) other_ = std::move(buffer_);
  buffer_ = std::move(next);
  start_buffer();
  return true;
}

/// The bytes that were not taken out yet have come to the start of the buffer.
void LineFramer::start_buffer() {
  end_ -= begin_;
  scanned_ -= begin_;
  begin_ = 0;
}

/// Drops the line for which there is no memory.
void LineFramer::give_up_line() {
  discard(end_);
  begin_ = scanned_ = end_ = 0;
  release();
}

std::span<char> LineFramer::space() {
  if (end_ - begin_ > line_max_) discard(end_);
  if (begin_ == end_) begin_ = scanned_ = end_ = 0;
  const bool is_held = buffer_.use_count() > 1;
  if (is_held && !move(std::max(kBufferMin, end_ - begin_))) {
    give_up_line();
    buffer_.reset();
  }
  // Without 64 KiB the program can't work any more.
  if (!buffer_ && !move(kBufferMin)) throw std::bad_alloc();
  const std::size_t left = end_ - begin_;
  // The bytes of a long line are moved no more often than others were taken out before them.
  const bool is_full = capacity() - end_ < kReadMin;
  if (begin_ > 0 && (is_full || (is_large(buffer_) && begin_ >= left))) {
    std::memmove(buffer_->bytes, buffer_->bytes + begin_, left);
    start_buffer();
  }
  const std::size_t room = capacity() - end_;
  const bool is_tight = room < kReadMin || (is_full && room < capacity() / 4);
  if (is_tight && capacity() < line_max_ + kBufferMin && !move(2 * capacity())) {
    give_up_line();
    if (!buffer_ && !move(kBufferMin)) throw std::bad_alloc();
  }
  return {buffer_->bytes + end_, std::min(capacity() - end_, kReadMax)};
}

void LineFramer::filled(std::size_t count) {
  assert(count <= capacity() - end_);
  end_ += count;
  buffer_->used = std::max(buffer_->used, end_);
  is_long_line_seen_ = is_long_line_seen_ || end_ - begin_ > kBufferMin;
}

std::optional<LineFramer::Frame> LineFramer::next() {
  while (true) {
    if (std::exchange(is_scan_over_, false)) scan_.restart();
    const std::size_t end = line_end();
    if (end == end_) {
      if (too_long_.size > 0) discard(end_);
      if (too_long_.size > 2 * std::uint64_t{line_max_} && !too_long_.is_told) {
        too_long_.is_told = true;
        return Frame{{}, too_long_.size, too_long_.head, too_long_.tail};
      }
      return std::nullopt;
    }
    const bool is_overwritten = buffer_->bytes[end] == '\r';
    if (auto frame = framed(end + (is_overwritten ? 1 : 0), is_overwritten)) return frame;
  }
}

std::optional<LineFramer::Frame> LineFramer::rest() {
  if (begin_ == end_ && too_long_.size == 0) return std::nullopt;
  scanned_ = end_;
  return framed(end_);
}

/// The place of the first line end that was not looked at yet, which is behind `scanned_` then; or
/// `end_`.
std::size_t LineFramer::line_end() {
  while (scanned_ < end_) {
    const std::size_t part_end =
        ends_ == Ends::newlines ? std::min(end_, scanned_ + limits::kScanPiece) : end_;
    const std::size_t at = line_end_before(part_end);
    if (at != part_end) {
      scan_line(at, true);
      return at;
    }
    if (scanned_ < part_end) break;
    scan_line(part_end, false);
  }
  return end_;
}

/// The same, but looks no further than `end`, and returns that if there is none.
std::size_t LineFramer::line_end_before(std::size_t end) {
  const std::string_view text(buffer_->bytes, end);
  std::size_t at =
      ends_ == Ends::newlines ? text.find('\n', scanned_) : text.find_first_of("\n\r", scanned_);
  scanned_ = std::min(at, end);
  if (at == text.npos) return end;
  // Only what follows on carriage returns shows whether they end the line or begin an update.
  const std::size_t behind =
      ends_ == Ends::newlines ? at : std::min(text.find_first_not_of('\r', at), end);
  if (behind == end) return end;
  if (text[behind] == '\n') at = behind;
  scanned_ = at == behind ? at + 1 : behind;
  return at;
}

/// The line has come in up to this place.
void LineFramer::scan_line(std::size_t end, bool is_complete) {
  if (end - begin_ <= limits::kScannedFrom || too_long_.size > 0) return;
  scan_.grow(buffer_->bytes + begin_, end - begin_, is_complete);
}

/// Takes the line that ends before `end` out of the buffer. Empty if the line is blank.
std::optional<LineFramer::Frame> LineFramer::framed(std::size_t end, bool is_overwritten) {
  std::string_view text(buffer_->bytes + begin_, end - begin_);
  const MessagePlaces* places = scan_.places();
  is_scan_over_ = true;
  if (too_long_.size > 0 || !can_hold(text.size())) {
    discard(end);
    begin_ = scanned_;
    const Frame frame{{}, std::exchange(too_long_.size, 0), too_long_.head, too_long_.tail};
    if (std::exchange(too_long_.is_told, false)) return std::nullopt;
    return frame;
  }
  begin_ = scanned_;
  if (at_start_) {
    at_start_ = false;
    if (text.starts_with(kByteOrderMark)) {
      text.remove_prefix(kByteOrderMark.size());
      places = nullptr;
    }
  }
  std::size_t returns = is_overwritten ? 0 : ends_ == Ends::newlines ? 1 : text.size();
  for (; returns > 0 && text.ends_with('\r'); --returns) text.remove_suffix(1);
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  if (std::all_of(text.begin(), text.end(), is_blank)) return std::nullopt;
  return Frame{Line::padded(text, places), 0, {}, {}};
}

/// Drops the bytes before `end` of a line that is too long, except for the two ends of the line.
void LineFramer::discard(std::size_t end) {
  std::string_view text(buffer_->bytes + begin_, end - begin_);
  begin_ = end;
  scanned_ = std::max(scanned_, end);
  if (too_long_.size == 0) too_long_ = {};
  too_long_.add(text, kept_);
}

bool LineFramer::can_hold(std::size_t size) const {
  return size <= line_max_ && can_read(size, memory_.has_room);
}

}  // namespace sitter
