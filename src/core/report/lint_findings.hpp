#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "core/report/tool_words.hpp"
#include "core/schema/json_schema.hpp"

namespace sitter {

namespace limits {

/// How many findings of the lint are kept about one list, and as many about results: more than
/// anybody mends at once.
inline constexpr std::size_t kLintFindingsMax = 100;

}  // namespace limits

/// Stands in what official clients take all the same.
inline constexpr std::string_view kSomeClients = "and some clients ";

inline std::string in_quotes(std::string_view name) { return json_string(shown_name(name)); }

/// "content[0].text is not of type string"; `whole` stands for the value itself.
inline std::string words_of(const JsonSchema::Violation& violation, std::string_view whole) {
  return brief(
      fmt::format("{} {}", violation.place.empty() ? whole : violation.place, violation.what), 300);
}

/// Collects findings about one thing after the other, each only once.
class Findings {
 public:
  /// `subject` begins each line: "tool \"add\"".
  void begin(std::string subject) { subject_ = std::move(subject); }

  template <class... Words>
  void add(fmt::format_string<Words...> format, Words&&... words) {
    std::string finding = fmt::format("{}: ", subject_);
    finding += fmt::format(format, std::forward<Words>(words)...);
    const bool has_room = all_.size() < limits::kLintFindingsMax;
    if (has_room && std::find(all_.begin(), all_.end(), finding) == all_.end()) {
      all_.push_back(std::move(finding));
    }
  }

  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::string subject_;
  std::vector<std::string> all_;
};

}  // namespace sitter
