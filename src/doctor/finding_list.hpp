#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "doctor/findings.hpp"

namespace sitter {

/// Collects findings in the order of the report.
class FindingList {
 public:
  void ok(std::string subject, std::string what) {
    all_.push_back({Level::ok, std::move(subject), std::move(what), {}});
  }
  void warn(std::string subject, std::string what, std::string way_out) {
    all_.push_back({Level::warning, std::move(subject), std::move(what), std::move(way_out)});
  }
  void complain(std::string subject, std::string what, std::string way_out) {
    all_.push_back({Level::problem, std::move(subject), std::move(what), std::move(way_out)});
  }

  std::vector<Finding> take() { return std::move(all_); }

 private:
  std::vector<Finding> all_;
};

/// What the server does at its end, and without the variables of our environment.
void add_end_findings(const DoctorFacts& facts, FindingList& findings);

/// A name or a line from outside.
inline std::string shown(std::string_view text) { return brief(text, 200); }

/// A sentence about a failure.
inline std::string shown_failure(std::string_view text) { return brief(text, 1000); }

}  // namespace sitter
