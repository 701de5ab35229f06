#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace sitter {

/// A `grep`: a pattern in RE2 syntax that matches anywhere in a line. An empty one matches every
/// line.
class LinePattern {
 public:
  explicit LinePattern(const std::string& pattern);

  /// One sentence about what is wrong with it; empty if nothing is.
  const std::string& complaint() const { return complaint_; }
  /// Nothing, if there is a complaint.
  bool matches(std::string_view line) const;

 private:
  std::string complaint_;
  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace sitter
