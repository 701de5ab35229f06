#include "core/tell/lints.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "core/child/call_replay.hpp"
#include "core/tell/lint.hpp"
#include "sitter/limits.hpp"

namespace sitter {

void Lints::on_serving(Generation gen) {
  if (std::exchange(gen_, gen) == gen) return;
  looked_at_.clear();
  in_results_.clear();
  refresh();
}

bool Lints::on_tools(std::span<const std::string_view> items) {
  if (!is_on_) return false;
  in_tools_ = lint_tools(items);
  return refresh();
}

bool Lints::wants_result(std::string_view tool, Generation gen) const {
  return is_on_ && gen == gen_ && looked_at_.size() < limits::kLintedToolsMax &&
         tool.size() <= limits::kToolNameMax && !looked_at_.contains(tool);
}

bool Lints::on_result(std::string_view tool, std::string_view result,
                      std::string_view output_schema) {
  const bool is_short = result.size() <= limits::kLintResultMax;
  if (is_short && !is_complete_success(result)) return false;
  looked_at_.emplace(tool);
  if (!is_short) return false;
  std::vector<std::string> found = lint_result(tool, result, output_schema);
  const std::size_t room = limits::kLintFindingsMax - in_results_.size();
  found.resize(std::min(found.size(), room));
  std::move(found.begin(), found.end(), std::back_inserter(in_results_));
  return refresh();
}

void Lints::on_told(const std::vector<std::string>& told) {
  told_.insert(told_.end(), told.begin(), told.end());
  refresh();
}

std::vector<std::string> Lints::all() const {
  std::vector<std::string> findings = in_tools_;
  findings.insert(findings.end(), in_results_.begin(), in_results_.end());
  return findings;
}

/// Must be called when the findings, or what was told of them, have changed. Returns whether a
/// finding has come that must be told.
bool Lints::refresh() {
  const auto holds = [](const std::vector<std::string>& findings) {
    return [&findings](const std::string& finding) {
      return std::find(findings.begin(), findings.end(), finding) != findings.end();
    };
  };
  std::vector<std::string> untold = all();
  std::erase_if(told_, std::not_fn(holds(untold)));
  std::erase_if(untold, holds(told_));
  const bool has_more = !std::all_of(untold.begin(), untold.end(), holds(news_));
  news_ = std::move(untold);
  return has_more;
}

}  // namespace sitter
