#include "core/child/followers.hpp"

#include <fmt/format.h>

#include <string>

#include "core/base/text.hpp"

namespace sitter {

void Followers::tell(std::string_view line, Orders& out) const {
  if (patterns_.empty()) return;
  const std::string text = one_line(line);
  for (const auto& [connection, pattern] : patterns_) {
    if (!pattern.matches(text)) continue;
    out.push(order::SendToControl{connection,
                                  fmt::format(R"json({{"line":{}}})json", json_string(text))});
  }
}

}  // namespace sitter
