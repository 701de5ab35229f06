#include "core/wire/protocol.hpp"

#include <fmt/format.h>

#include "core/wire/json_view.hpp"

namespace sitter {

bool has_code(std::string_view error, ErrorCode code) {
  return member(error, "code") == fmt::format("{}", static_cast<int>(code));
}

bool is_complete(std::string_view result_type) {
  return result_type.empty() || string_value(result_type) == "complete";
}

}  // namespace sitter
