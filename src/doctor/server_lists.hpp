#pragma once

#include <string>
#include <vector>

#include "doctor/doctor_session.hpp"
#include "doctor/examination.hpp"

namespace sitter {

/// Asks for the tools, and for the other lists whose capabilities the server has. The tools of the
/// bridge are left out.
void read_lists(DoctorSession& session, const DoctorSession::Json& capabilities,
                DoctorFacts& facts);

/// The capabilities in words. The bridge adds `tools` to those of a server that has none.
std::vector<std::string> shown_capabilities(const DoctorSession::Json& capabilities,
                                            bool has_tools);

}  // namespace sitter
