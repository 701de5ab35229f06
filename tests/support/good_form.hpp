#pragma once

#include <string>

namespace sitter {

/// Notes the text, and fails the test if a person or a model would find a mistake of form in it.
void expect_good_form(const std::string& text);

}  // namespace sitter
