#pragma once

#include <string>

#include "sitter/cli.hpp"
#include "sitter/fact.hpp"
#include "sitter/http.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// Describes a fact or an order in one line for the log, with long texts shortened.
std::string to_text(const Fact& fact);
std::string to_text(const Order& order);
std::string to_text(const HttpFact& fact);
std::string to_text(const HttpOrder& order);
std::string to_text(const CliOrder& order);

}  // namespace sitter
