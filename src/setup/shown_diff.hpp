#pragma once

#include <string>
#include <vector>

#include "setup/document.hpp"

namespace sitter::setup {

/// The text with `***` for each string that may be a secret: all that is outside of the entry, the
/// values of the environment and of headers, and addresses with a password or a query.
std::string without_secrets(const Document& document, const Path& entry);

/// A unified diff with three lines of context; empty if the texts are the same.
std::string unified_diff(const std::string& name, const std::string& before,
                         const std::string& after);

}  // namespace sitter::setup
