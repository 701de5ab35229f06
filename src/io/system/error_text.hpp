#pragma once

#include <string>
#include <system_error>

namespace sitter {

/// What an error of the system means, in UTF-8 and without a full stop: "No such file or
/// directory".
std::string error_text(const std::error_code& error);

}  // namespace sitter
