#pragma once

#include <string>
#include <vector>

#include "setup/clients.hpp"

namespace sitter::setup {

/// The places of this scope, or all of them without a scope. Throws Failure if there is none.
std::vector<Place> places_in(const Client& client, const std::string& scope,
                             const std::string& project, const Variable& variable);

/// The only one of these places that holds a server of this name. Throws Failure if there is none
/// or more than one.
Place place_of(const Client& client, const std::vector<Place>& places, const std::string& name);

/// Where the client itself would put a new server.
Place place_for_new(const std::vector<Place>& places);

}  // namespace sitter::setup
