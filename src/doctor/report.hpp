#pragma once

#include <string>
#include <vector>

#include "doctor/findings.hpp"

namespace sitter {

/// The findings as lines for a person, with the counts of each level in the last line.
std::string doctor_text(const std::vector<Finding>& findings, bool is_coloured);

/// The facts and the findings as one JSON object for scripts.
std::string doctor_json(const DoctorFacts& facts, const std::vector<Finding>& findings);

/// 1 with a problem, otherwise 0.
int doctor_exit_code(const std::vector<Finding>& findings);

}  // namespace sitter
