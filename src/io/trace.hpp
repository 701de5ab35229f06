#pragma once

#include <string>

#include "sitter/fact.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// One line for the log, texts shortened.
std::string to_text(const Fact& fact);
std::string to_text(const Order& order);

}  // namespace sitter
