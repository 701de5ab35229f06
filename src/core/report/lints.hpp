#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/catalog_kind.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// Of each tool, one result is linted in this time. A model seldom calls a tool more often, and a
/// client that does must not pay for the lint.
inline constexpr Milliseconds kLintInterval{1000};

/// How many tools of one child are told apart by when a result of them was linted. Clients refuse a
/// list of so many tools.
inline constexpr std::size_t kLintedToolsMax = 1000;

}  // namespace limits

/// What clients would refuse of the present server, and what of that the model was told. A finding
/// is told once for as long as it stays. If it disappears and comes back, it is told again.
///
/// So that calls that follow each other quickly pay nothing, no more than one result of each tool
/// is looked at in `limits::kLintInterval`.
class Lints {
 public:
  /// If it is off, there are no findings.
  explicit Lints(bool is_on) : is_on_(is_on) {}

  /// This child serves from now on. Findings in the results of the child before it are dropped.
  void on_serving(Generation gen);
  /// The raw definitions of all tools of the present server. Returns whether something must be told
  /// that was not found before.
  bool on_tools(std::span<const std::string_view> items);

  /// Whether a result of this tool of this child must be passed to `on_result`.
  bool wants_result(std::string_view tool, Generation gen, Instant now) const {
    if (!is_on_ || gen != gen_) return false;
    // Each call pays for this, and most calls in a row are of one tool.
    if (last_ != looked_at_.end() && last_->first == tool) return now >= last_->second;
    return wants_other(tool, now);
  }
  /// `output_schema` is raw, and empty if the tool has none. Returns the same as `on_tools`.
  bool on_result(std::string_view tool, std::string_view result, std::string_view output_schema,
                 Instant now);

  /// What is wrong with a list as a whole; empty if nothing is. Returns the same.
  bool on_list(CatalogKind kind, const std::string& finding);
  /// An answer had the id of its request written as the other type. Returns the same.
  bool on_other_id_type();

  /// The findings that the model must still be told.
  const std::vector<std::string>& news() const { return news_; }
  void on_told(const std::vector<std::string>& told);

  /// All findings, those in the definitions first.
  std::vector<std::string> all() const;

 private:
  bool wants_other(std::string_view tool, Instant now) const;
  void add(std::string finding);
  bool refresh();

  const bool is_on_;
  std::map<CatalogKind, std::string> in_lists_;
  std::vector<std::string> in_tools_;
  std::vector<std::string> in_results_;
  /// Findings that the model was told, and that are still there.
  std::vector<std::string> told_;
  std::vector<std::string> news_;
  /// The child that serves, and when the next result of each of its tools may be looked at.
  Generation gen_ = kNoGeneration;
  std::map<std::string, Instant, std::less<>> looked_at_;
  /// The tool of which a result was looked at last.
  std::map<std::string, Instant, std::less<>>::const_iterator last_ = looked_at_.end();
};

}  // namespace sitter
