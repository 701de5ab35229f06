#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/tcp_address.hpp"
#include "sitter/time.hpp"

/// What look-ups have in common on all systems.
namespace sitter {

using HostAddresses = std::vector<boost::asio::ip::address>;

std::optional<boost::asio::ip::address> address_literal(std::string_view text);

/// Adds an address that is not there yet. Does nothing without one.
void add_address(HostAddresses& addresses, const std::optional<boost::asio::ip::address>& address);

/// What a name stands for by itself: an address, or localhost and all names below it.
HostAddresses addresses_of_name(std::string_view name);

/// Why there is no address, as clauses for a person.
std::string name_not_known(std::string_view name);
std::string name_not_found(std::string_view name, Milliseconds limit);
std::string name_not_looked_up(std::string_view name, std::string_view reason);

}  // namespace sitter
