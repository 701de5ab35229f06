#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace sitter {

/// The `grep` argument: a pattern in RE2 syntax that matches anywhere in a line. An empty pattern
/// matches every line.
class LinePattern {
 public:
  /// How many bytes RE2 may use for the pattern. Without a bound, it would use up to 8 MiB for one
  /// like (x{1000}){1000}.
  static constexpr std::int64_t kMemory = 2 * 1024 * 1024;

  explicit LinePattern(const std::string& pattern, std::int64_t memory = kMemory);

  /// A sentence that says what is wrong with the pattern; empty if nothing is.
  const std::string& complaint() const { return complaint_; }
  /// Matches no line if there is a complaint.
  bool matches(std::string_view line) const;
  /// How many instructions RE2 has made of it, each of which may look at each byte of a line.
  std::size_t size() const;

 private:
  std::string complaint_;
  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace sitter
