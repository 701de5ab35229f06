#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string>

namespace sitter {

/// Where a TCP connection leads.
struct TcpAddress {
  boost::asio::ip::address host;
  std::uint16_t port = 0;

  /// "127.0.0.1:3001", or "[::1]:3001".
  std::string text() const;

  friend bool operator==(const TcpAddress&, const TcpAddress&) = default;
};

/// The IPv4 address that an IPv6 address of the form ::ffff:127.0.0.1 stands for. Any other address
/// is returned unchanged.
boost::asio::ip::address without_mapping(const boost::asio::ip::address& address);

}  // namespace sitter
