#include "io/http/content_decoder.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <initializer_list>
#include <optional>

#include "io/http/response_reader.hpp"

namespace sitter {
namespace {

namespace zlib = boost::beast::zlib;

constexpr std::size_t kPiece = 64 * limits::kKiB;

bool is_one_of(std::string_view encoding, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return boost::beast::iequals({encoding.data(), encoding.size()}, {name.data(), name.size()});
  });
}

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// The size of a head, 0 if it is not whole yet, nothing if it is none.
std::optional<std::size_t> gzip_head_size(std::string_view text) {
  constexpr std::size_t kFixed = 10;
  constexpr unsigned kHasCheck = 2, kHasExtra = 4, kHasName = 8, kHasComment = 16;
  if (!std::string_view("\x1f\x8b\x08").starts_with(text.substr(0, 3))) return std::nullopt;
  if (text.size() < kFixed) return 0;
  const unsigned flags = byte_at(text, 3);
  std::size_t at = kFixed;
  if ((flags & kHasExtra) != 0) {
    if (text.size() < at + 2) return 0;
    at += 2 + byte_at(text, at) + 256 * byte_at(text, at + 1);
  }
  for (const unsigned flag : {kHasName, kHasComment}) {
    if ((flags & flag) == 0) continue;
    at = text.find('\0', at);
    if (at == text.npos) return 0;
    ++at;
  }
  if ((flags & kHasCheck) != 0) at += 2;
  return at <= text.size() ? at : 0;
}

/// The same for deflate. Without its frame, the head has no bytes, which is said with `npos`.
std::optional<std::size_t> zlib_head_size(std::string_view text) {
  constexpr unsigned kMethod = 8, kHasDictionary = 0x20;
  if (text.size() < 2) return 0;
  const unsigned first = byte_at(text, 0);
  const unsigned second = byte_at(text, 1);
  if ((first & 0xf) != kMethod || (256 * first + second) % 31 != 0) return text.npos;
  if ((second & kHasDictionary) != 0) return std::nullopt;
  return 2;
}

}  // namespace

struct ContentDecoder::Inflation {
  zlib::inflate_stream stream;
  std::array<char, kPiece> piece;
};

bool ContentDecoder::is_identity(std::string_view encoding) {
  return is_one_of(encoding, {"", "identity"});
}

bool ContentDecoder::can_read(std::string_view encoding) {
  return is_one_of(encoding, {"gzip", "x-gzip", "deflate"});
}

ContentDecoder::ContentDecoder(std::string_view encoding)
    : inflation_(std::make_unique<Inflation>()), is_gzip_(!is_one_of(encoding, {"deflate"})) {}
ContentDecoder::~ContentDecoder() = default;

bool ContentDecoder::feed(std::string_view bytes,
                          const std::function<bool(std::string_view)>& take) {
  if (is_in_head_) {
    head_ += bytes;
    const auto size = is_gzip_ ? gzip_head_size(head_) : zlib_head_size(head_);
    if (!size) return false;
    if (*size == 0) return head_.size() <= limits::kHttpHeadMax;
    is_in_head_ = false;
    has_frame_ = *size != head_.npos;
    bytes = std::string_view(head_).substr(has_frame_ ? *size : 0);
  }
  zlib::z_params params;
  params.next_in = bytes.data();
  params.avail_in = bytes.size();
  while (!is_complete_) {
    params.next_out = inflation_->piece.data();
    params.avail_out = kPiece;
    boost::beast::error_code error;
    inflation_->stream.write(params, zlib::Flush::sync, error);
    is_complete_ = error == zlib::error::end_of_stream;
    const bool needs_more = error == zlib::error::need_buffers;
    if (error && !is_complete_ && !needs_more) return false;
    const std::size_t size = kPiece - params.avail_out;
    if (size > 0 && !take({inflation_->piece.data(), size})) return true;
    if (needs_more) break;
  }
  head_.clear();
  return true;
}

bool ContentDecoder::end(const std::function<bool(std::string_view)>& take) {
  if (is_in_head_) return head_.empty();
  // The library sees the end of the last block only if something stands behind it.
  if (!has_frame_) feed(std::string_view("\0\0\0\0", 4), take);
  return is_complete_;
}

}  // namespace sitter
