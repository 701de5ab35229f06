#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>

namespace sitter {

/// Where a TCP connection leads.
struct TcpAddress {
  boost::asio::ip::address host;
  std::uint16_t port = 0;
};

}  // namespace sitter
