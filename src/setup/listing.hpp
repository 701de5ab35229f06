#pragma once

#include <string>
#include <vector>

#include "setup/clients.hpp"

namespace sitter::setup {

/// A table of these clients: their servers, and which of them are wrapped. Clients of which neither
/// a file nor a program is found are left out.
std::string listing(const std::vector<Client>& clients, const std::string& project,
                    const Variable& variable);

}  // namespace sitter::setup
