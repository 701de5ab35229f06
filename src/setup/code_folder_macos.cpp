#include "setup/code_folder.hpp"

const char sitter::setup::kCodeFolder[] = "/Library/Application Support/Code/User";
