#include "core/child/unopened.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/ascii.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {

bool may_mean_unopened(std::string_view error) {
  constexpr std::array kOthers = {ErrorCode::method_not_found, ErrorCode::internal_error,
                                  ErrorCode::header_mismatch, ErrorCode::missing_client_capability,
                                  ErrorCode::unsupported_version};
  return std::none_of(kOthers.begin(), kOthers.end(),
                      [&](ErrorCode code) { return has_code(error, code); });
}

bool names_opening(std::string_view error) {
  const std::string message = ascii_lower(string_value(member(error, "message")));
  // The Python SDK says no more than this.
  const bool is_of_python = message == "invalid request parameters";
  return is_of_python || message.find("initializ") != message.npos ||
         message.find("initialis") != message.npos;
}

bool reads_as_unopened(std::string_view error) {
  return names_opening(error) || has_code(error, ErrorCode::invalid_request);
}

}  // namespace sitter
