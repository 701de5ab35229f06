#include "setup/code_folder.hpp"

const char sitter::setup::kCodeFolder[] = "/.config/Code/User";
