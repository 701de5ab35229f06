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

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool LineFramer::is_large(const std::shared_ptr<Buffer>& buffer) {
  return buffer && buffer->capacity > kBufferMin;
}

void LineFramer::release() {
  other_.reset();
  if (begin_ != end_ || !is_large(buffer_)) return;
  begin_ = scanned_ = end_ = 0;
  if (buffer_.use_count() > 1) {
    buffer_.reset();
  } else {
    resize(kBufferMin);
  }
}

/// Leaves the buffer to its other holder, and goes on in another buffer with the bytes that were
/// not taken out yet.
void LineFramer::leave_to_holder() {
  const std::size_t size = end_ - begin_;
  if (move_to_other(std::max(kBufferMin, size))) return;
  other_ = std::exchange(buffer_, nullptr);
  if (resize(std::max(kBufferMin, size))) {
    std::memcpy(buffer_->bytes, other_->bytes + begin_, size);
    scanned_ -= begin_;
    begin_ = 0;
    end_ = size;
  } else {
    buffer_ = other_;
    discard(end_);
    buffer_.reset();
  }
}

/// Goes on in the other buffer, if that is large enough and nobody holds it.
bool LineFramer::move_to_other(std::size_t capacity) {
  if (!other_ || other_.use_count() > 1 || other_->capacity < capacity) return false;
  std::memcpy(other_->bytes, buffer_->bytes + begin_, end_ - begin_);
  end_ -= begin_;
  scanned_ -= begin_;
  begin_ = 0;
  std::swap(buffer_, other_);
  return true;
}

std::span<char> LineFramer::space() {
  if (end_ - begin_ > line_max_) discard(end_);
  if (begin_ == end_) begin_ = scanned_ = end_ = 0;
  if (buffer_.use_count() > 1) leave_to_holder();
  if (capacity() == 0) {
    begin_ = scanned_ = end_ = 0;
    // Without 64 KiB the program can't work any more.
    if (!resize(kBufferMin)) throw std::bad_alloc();
  }
  if (capacity() - end_ < kReadMin) {
    if (begin_ > 0) {
      std::memmove(buffer_->bytes, buffer_->bytes + begin_, end_ - begin_);
      end_ -= begin_;
      scanned_ -= begin_;
      begin_ = 0;
    }
    if (capacity() - end_ < std::max(kReadMin, capacity() / 4) && !move_to_other(capacity() * 2) &&
        !resize(capacity() * 2)) {
      discard(end_);
      begin_ = scanned_ = end_ = 0;
      release();
    }
  }
  return {buffer_->bytes + end_, capacity() - end_};
}

void LineFramer::filled(std::size_t count) {
  assert(count <= capacity() - end_);
  end_ += count;
  is_long_line_seen_ = is_long_line_seen_ || end_ - begin_ > kBufferMin;
}

std::optional<LineFramer::Frame> LineFramer::next() {
  while (true) {
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
  if (end_ == scanned_) return end_;
  const std::string_view text(buffer_->bytes, end_);
  std::size_t at =
      ends_ == Ends::newlines ? text.find('\n', scanned_) : text.find_first_of("\n\r", scanned_);
  scanned_ = std::min(at, end_);
  if (at == text.npos) return end_;
  // Only what follows on carriage returns shows whether they end the line or begin an update.
  const std::size_t behind =
      ends_ == Ends::newlines ? at : std::min(text.find_first_not_of('\r', at), end_);
  if (behind == end_) return end_;
  if (text[behind] == '\n') at = behind;
  scanned_ = at == behind ? at + 1 : behind;
  return at;
}

/// Takes the line that ends before `end` out of the buffer. Empty if the line is blank.
std::optional<LineFramer::Frame> LineFramer::framed(std::size_t end, bool is_overwritten) {
  std::string_view text(buffer_->bytes + begin_, end - begin_);
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
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  }
  std::size_t returns = is_overwritten ? 0 : ends_ == Ends::newlines ? 1 : text.size();
  for (; returns > 0 && text.ends_with('\r'); --returns) text.remove_suffix(1);
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  if (std::all_of(text.begin(), text.end(), is_blank)) return std::nullopt;
  return Frame{Line::padded(text), 0, {}, {}};
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
  return size <= line_max_ && can_read(size, has_room_);
}

/// Returns false if there is no memory. The buffer is then unchanged.
bool LineFramer::resize(std::size_t capacity) {
  if (!buffer_) buffer_ = std::make_shared<Buffer>();
  // For a large buffer, realloc moves the pages instead of copying them.
  char* const bytes =
      static_cast<char*>(std::realloc(buffer_->bytes, capacity + limits::kLinePadding));
  if (bytes == nullptr) return false;
  buffer_->bytes = bytes;
  buffer_->capacity = capacity;
  return true;
}

}  // namespace sitter
