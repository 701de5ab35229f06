#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sitter {

/// What a run has written. Of more than `limits::kRunOutputMax` bytes both ends are kept, half of
/// that each.
class KeptOutput {
 public:
  void add(std::string_view bytes);

  std::uint64_t size() const { return size_; }
  /// Nothing is left out.
  bool is_whole() const;
  /// All bytes, if nothing is left out.
  std::string bytes() const { return head_ + tail_; }
  /// The bytes as valid UTF-8, with a line in the place of what is left out that counts its bytes.
  /// No character is cut.
  std::string text() const;

 private:
  std::string head_;
  std::string tail_;
  std::uint64_t size_ = 0;
};

}  // namespace sitter
