#pragma once

#include <string_view>

namespace sitter {

// The files of src/core/schema/published, which the build compiles in.
extern const std::string_view kPublishedSession;
extern const std::string_view kPublishedStateless;

}  // namespace sitter
