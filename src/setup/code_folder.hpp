#pragma once

namespace sitter::setup {

/// Where VS Code keeps the settings of a user, below HOME.
extern const char kCodeFolder[];

}  // namespace sitter::setup
