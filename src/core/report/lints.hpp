#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/method.hpp"
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
  bool is_on() const { return is_on_; }
  /// What is wrong with the items of the list of this method, or with the pages around them;
  /// nothing may be. Returns whether something must be told that was not found before.
  bool on_items(Method list, std::vector<std::string> findings);
  bool on_pages(Method list, std::vector<std::string> findings);

  /// Whether a result of this tool, or a message of this method, of this child must be linted and
  /// passed to `on_result`.
  bool wants_result(std::string_view tool, Generation gen, Instant now) const {
    if (!is_on_ || gen != gen_) return false;
    // Each call pays for this, and most calls in a row are of one tool.
    if (last_ != looked_at_.end() && last_->first == tool) return now >= last_->second;
    return wants_other(tool, now);
  }
  /// Returns the same as `on_items`.
  bool on_result(std::string_view tool, std::vector<std::string> findings, Instant now);
  /// What else is wrong with the server. Returns the same.
  bool on_finding(std::string finding);

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
  std::map<Method, std::vector<std::string>> in_pages_;
  std::map<Method, std::vector<std::string>> in_items_;
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
