#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/examination.hpp"

namespace sitter {

enum class Level { ok, warning, problem };

/// "ok", "warning", "problem".
std::string_view level_name(Level level);

/// One line of the report.
struct Finding {
  Level level = Level::ok;
  /// A word for scripts: "file", "opening", "tools".
  std::string subject;
  std::string what;
  /// What to do about it. Empty exactly if the level is ok.
  std::string way_out;
};

/// A name or a line from outside, as it is shown.
std::string shown(std::string_view text);

/// A sentence about a failure, as it is shown.
std::string shown_failure(std::string_view text);

/// What the facts mean for the clients of the server, in the order of the report.
std::vector<Finding> findings_in(const DoctorFacts& facts);

/// A number of tokens of a model's context, which is only rough: 4 bytes each.
std::size_t rough_tokens(std::size_t bytes);

/// The bytes of all definitions of tools.
std::size_t tool_bytes(const DoctorFacts& facts);

/// The three largest tools, the largest first.
std::vector<DoctorFacts::Tool> largest_tools(const DoctorFacts& facts);

/// The findings as lines for a person, with the counts of each level in the last line.
std::string doctor_text(const std::vector<Finding>& findings, bool is_coloured);

/// The facts and the findings as one JSON object for scripts.
std::string doctor_json(const DoctorFacts& facts, const std::vector<Finding>& findings);

/// 1 with a problem, otherwise 0.
int doctor_exit_code(const std::vector<Finding>& findings);

}  // namespace sitter
