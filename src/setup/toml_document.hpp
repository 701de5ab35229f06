#pragma once

#include <memory>
#include <string>

#include "setup/document.hpp"

namespace sitter::setup {

/// TOML 1.0. A table may be written with headers, with dotted keys or inline.
std::unique_ptr<Document> read_toml(std::string text, const std::string& name);

}  // namespace sitter::setup
