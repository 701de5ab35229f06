#include "core/base/line_pattern.hpp"

#include <re2/re2.h>

#include "core/base/text.hpp"

namespace sitter {

LinePattern::LinePattern(const std::string& pattern, std::int64_t memory) {
  if (pattern.empty()) return;
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(memory);
  expression_ = std::make_shared<const re2::RE2>(pattern, options);
  if (!expression_->ok()) {
    complaint_ = "is not a valid RE2 pattern: " + one_line(expression_->error());
  }
}

std::size_t LinePattern::size() const {
  return expression_ && expression_->ok() ? static_cast<std::size_t>(expression_->ProgramSize())
                                          : 0;
}

bool LinePattern::matches(std::string_view line) const {
  if (!expression_) return true;
  return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *expression_);
}

}  // namespace sitter
