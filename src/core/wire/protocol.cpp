#include "core/wire/protocol.hpp"

#include <fmt/format.h>

#include "core/wire/json_view.hpp"

namespace sitter {

bool has_code(std::string_view error, ErrorCode code) {
  return member(error, "code") == fmt::format("{}", static_cast<int>(code));
}

}  // namespace sitter
