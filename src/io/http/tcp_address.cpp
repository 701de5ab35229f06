#include "io/http/tcp_address.hpp"

#include <fmt/format.h>

namespace sitter {

namespace ip = boost::asio::ip;

std::string TcpAddress::text() const {
  const std::string text = host.to_string();
  return fmt::format("{}:{}", host.is_v6() ? '[' + text + ']' : text, port);
}

ip::address without_mapping(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

}  // namespace sitter
