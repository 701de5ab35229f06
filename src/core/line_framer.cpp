#include "sitter/core/line_framer.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace sitter {
namespace {

/// What a pipe holds by default: one read takes it all.
constexpr std::size_t kBufferMin = 64 * limits::kKiB;

/// Less room than this is not worth a read.
constexpr std::size_t kReadMin = 4 * limits::kKiB;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::span<char> LineFramer::space() {
  if (end_ - begin_ > line_max_) discard(end_);
  if (begin_ == end_) {
    begin_ = scanned_ = end_ = 0;
    if (capacity_ != kBufferMin) resize(kBufferMin);
  }
  if (capacity_ - end_ < kReadMin) {
    if (begin_ > 0) {
      std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      scanned_ -= begin_;
      begin_ = 0;
    }
    if (capacity_ - end_ < std::max(kReadMin, capacity_ / 4)) resize(capacity_ * 2);
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

void LineFramer::filled(std::size_t count) {
  assert(count <= capacity_ - end_);
  end_ += count;
}

std::optional<LineFramer::Frame> LineFramer::next() {
  while (true) {
    const char* const bytes = buffer_.get();
    const void* const found =
        end_ > scanned_ ? std::memchr(bytes + scanned_, '\n', end_ - scanned_) : nullptr;
    if (found == nullptr) {
      scanned_ = end_;
      if (long_size_ > 0) discard(end_);
      if (long_size_ > 2 * std::uint64_t{line_max_} && !long_told_) {
        long_told_ = true;
        return Frame{{}, long_size_, long_head_, long_tail_};
      }
      return std::nullopt;
    }
    const std::size_t line_end = static_cast<std::size_t>(static_cast<const char*>(found) - bytes);
    scanned_ = line_end + 1;
    if (auto frame = framed(line_end)) return frame;
  }
}

std::optional<LineFramer::Frame> LineFramer::rest() {
  if (begin_ == end_ && long_size_ == 0) return std::nullopt;
  scanned_ = end_;
  return framed(end_);
}

/// Takes the line that ends before `end` out of the buffer; nothing if it is blank.
std::optional<LineFramer::Frame> LineFramer::framed(std::size_t end) {
  std::string_view text(buffer_.get() + begin_, end - begin_);
  if (long_size_ > 0 || text.size() > line_max_) {
    discard(end);
    begin_ = scanned_;
    const Frame frame{{}, std::exchange(long_size_, 0), long_head_, long_tail_};
    if (std::exchange(long_told_, false)) return std::nullopt;
    return frame;
  }
  begin_ = scanned_;
  if (at_start_) {
    at_start_ = false;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  }
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  if (text.find_first_not_of(" \t\r") == text.npos) return std::nullopt;
  return Frame{Line::padded(text), 0, {}, {}};
}

/// Lets go of the bytes before `end` of a line that is too long, all but the ends of that line.
void LineFramer::discard(std::size_t end) {
  std::string_view text(buffer_.get() + begin_, end - begin_);
  begin_ = end;
  scanned_ = std::max(scanned_, end);
  if (long_size_ == 0) {
    long_head_.clear();
    long_tail_.clear();
  }
  long_size_ += text.size();
  const std::size_t missing = std::min(text.size(), kept_ - long_head_.size());
  long_head_.append(text.substr(0, missing));
  text.remove_prefix(missing);
  if (text.size() > kept_) text.remove_prefix(text.size() - kept_);
  long_tail_.append(text);
  if (long_tail_.size() > kept_) {
    long_tail_.erase(0, long_tail_.size() - kept_);
  }
}

void LineFramer::resize(std::size_t capacity) {
  // realloc moves the pages of a large buffer instead of copying them.
  char* const bytes =
      static_cast<char*>(std::realloc(buffer_.get(), capacity + limits::kLinePadding));
  if (bytes == nullptr) throw std::bad_alloc();
  (void)buffer_.release();
  buffer_.reset(bytes);
  capacity_ = capacity;
}

}  // namespace sitter
