#pragma once

#include <memory>
#include <string>

#include "program.hpp"

namespace sitter::bench {

/// False in a build without libcurl.
bool has_curl();
/// Makes POSTs on one kept connection with the easy interface of libcurl.
std::unique_ptr<Caller> call_with_curl(const std::string& url);

}  // namespace sitter::bench
