#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sitter {

/// Reads a body that came compressed although nobody had asked for that: gzip (RFC 1952), or
/// deflate (RFC 1950, and without its frame, as some servers send it). The checksums are not
/// compared, since TCP and TLS have their own. What stands behind the end is ignored.
class ContentDecoder {
 public:
  /// `encoding`: the value of the header Content-Encoding.
  static bool is_identity(std::string_view encoding);
  static bool can_read(std::string_view encoding);

  /// Only for an encoding that it can read.
  explicit ContentDecoder(std::string_view encoding);
  ContentDecoder(const ContentDecoder&) = delete;
  ContentDecoder& operator=(const ContentDecoder&) = delete;
  ~ContentDecoder();

  /// Hands on what these bytes hold, in pieces of at most 64 KiB, as long as `take` returns true.
  /// Returns false if the body is broken.
  bool feed(std::string_view bytes, const std::function<bool(std::string_view)>& take);
  /// The response has ended. Returns whether the body is whole; a body without any byte is.
  bool end(const std::function<bool(std::string_view)>& take);

 private:
  struct Inflation;

  std::unique_ptr<Inflation> inflation_;
  bool is_gzip_;
  bool is_in_head_ = true;
  bool has_frame_ = true;
  bool is_complete_ = false;
  std::string head_;  // as long as it is not whole
};

}  // namespace sitter
