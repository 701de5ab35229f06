#include "io/system/error_text.hpp"

namespace sitter {

std::string error_text(const std::error_code& error) { return error.message(); }

}  // namespace sitter
