#include "core/report/lints.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/report/lint_findings.hpp"
#include "core/report/list_lint.hpp"

namespace sitter {

namespace {

/// "content[2].text" as "content[].text".
std::string without_indices(std::string_view finding) {
  std::string text;
  bool is_index = false;
  for (const char c : finding) {
    is_index = c == '[' || (is_index && is_ascii_digit(c));
    if (!is_index || c == '[') text += c;
  }
  return text;
}

}  // namespace

void Lints::on_serving(Generation gen) {
  if (std::exchange(gen_, gen) == gen) return;
  looked_at_.clear();
  last_ = looked_at_.end();
  in_results_.clear();
  refresh();
}

bool Lints::on_items(Method list, std::vector<std::string> findings) {
  if (!is_on_) return false;
  findings.resize(std::min(findings.size(), limits::kLintFindingsMax));
  in_items_[list] = std::move(findings);
  return refresh();
}

bool Lints::on_pages(Method list, std::vector<std::string> findings) {
  if (!is_on_) return false;
  in_pages_[list] = std::move(findings);
  return refresh();
}

bool Lints::wants_other(std::string_view tool, Instant now) const {
  if (tool.size() > limits::kToolNameMax) return false;
  const auto known = looked_at_.find(tool);
  if (known == looked_at_.end()) return looked_at_.size() < limits::kLintedToolsMax;
  return now >= known->second;
}

bool Lints::on_result(std::string_view tool, std::vector<std::string> findings, Instant now) {
  last_ = looked_at_.insert_or_assign(std::string(tool), now + limits::kLintInterval).first;
  for (std::string& finding : findings) add(std::move(finding));
  return refresh();
}

bool Lints::on_finding(std::string finding) {
  if (!is_on_) return false;
  add(std::move(finding));
  return refresh();
}

void Lints::add(std::string finding) {
  const bool has_room = in_results_.size() < limits::kLintFindingsMax;
  // The wrong one of many items may be another one each time.
  const bool is_known = std::any_of(
      in_results_.begin(), in_results_.end(),
      [&](const std::string& one) { return without_indices(one) == without_indices(finding); });
  if (has_room && !is_known) in_results_.push_back(std::move(finding));
}

void Lints::on_told(const std::vector<std::string>& told) {
  told_.insert(told_.end(), told.begin(), told.end());
  refresh();
}

std::vector<std::string> Lints::all() const {
  std::vector<std::string> findings;
  for (const auto* const lists : {&in_pages_, &in_items_}) {
    for (const auto& [list, found] : *lists) {
      findings.insert(findings.end(), found.begin(), found.end());
    }
  }
  // A list may show the same to the bridge and to the client.
  std::copy_if(in_results_.begin(), in_results_.end(), std::back_inserter(findings),
               [in_lists = findings](const std::string& finding) {
                 return std::find(in_lists.begin(), in_lists.end(), finding) == in_lists.end();
               });
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
