#pragma once

#include <string>

#include "core/http/secrets.hpp"
#include "sitter/cli.hpp"
#include "sitter/fact.hpp"
#include "sitter/http.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// Describes a fact or an order in one line for the log, without secrets, and with long
/// texts shortened.
std::string to_text(const Fact& fact, const Secrets& secrets);
std::string to_text(const Order& order, const Secrets& secrets);
std::string to_text(const HttpFact& fact, const Secrets& secrets);
std::string to_text(const HttpOrder& order, const Secrets& secrets);
std::string to_text(const CliOrder& order, const Secrets& secrets);

}  // namespace sitter
