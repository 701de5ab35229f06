#pragma once

#include <string>
#include <vector>

#include "doctor/doctor_session.hpp"
#include "doctor/facts.hpp"

namespace sitter {

/// What the server lists.
struct ServerLists {
  std::vector<DoctorFacts::List> lists;
  /// Without the tools of the bridge.
  std::vector<DoctorFacts::Tool> tools;
};

/// Asks for the tools, and for the other lists whose capabilities the server has.
ServerLists list_all(DoctorSession& session, const DoctorSession::Json& capabilities);

/// The capabilities in words. The bridge adds `tools` to those of a server that has none.
std::vector<std::string> shown_capabilities(const DoctorSession::Json& capabilities,
                                            bool has_tools);

}  // namespace sitter
