#include "io/http/resolver_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/system/error_code.hpp>

#include "core/base/text.hpp"

namespace sitter {

namespace ip = boost::asio::ip;

std::optional<ip::address> address_literal(std::string_view text) {
  // Windows would take a port, too (WSAStringToAddress).
  const std::size_t colon = text.find(':');
  if (text.starts_with('[') || (colon != text.npos && text.find('.') < colon)) return std::nullopt;
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(text), error);
  return error ? std::nullopt : std::optional(address);
}

void add_address(HostAddresses& addresses, const std::optional<ip::address>& address) {
  if (!address) return;
  if (std::find(addresses.begin(), addresses.end(), *address) != addresses.end()) return;
  addresses.push_back(*address);
}

HostAddresses addresses_of_name(std::string_view name) {
  if (const auto address = address_literal(name)) return {*address};
  if (name.ends_with('.')) name.remove_suffix(1);
  // RFC 6761, 6.3.
  if (name != "localhost" && !name.ends_with(".localhost")) return {};
  return {ip::address_v4::loopback(), ip::address_v6::loopback()};
}

std::string name_not_known(std::string_view name) {
  return fmt::format("the name {} is not known", name);
}

std::string name_not_found(std::string_view name, Milliseconds limit) {
  return fmt::format("the name {} was not found in {}", name, duration_text(limit));
}

std::string name_not_looked_up(std::string_view name, std::string_view reason) {
  return fmt::format("the name {} can't be looked up: {}", name, reason);
}

}  // namespace sitter
