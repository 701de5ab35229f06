#pragma once

#include <cstdint>
#include <vector>

#include "io/http/tcp_address.hpp"
#include "sitter/http.hpp"

namespace sitter {

/// A socket that listens at the port of an address.
struct ListeningSocket {
  boost::asio::ip::address address;
  ListenerId id = kNoListener;
  /// An IPv6 socket that gets no IPv4 connections.
  bool is_v6_only = false;
};

/// The sockets that listen at this port; those of IPv4 only with `has_v4`. Empty if the system does
/// not tell.
std::vector<ListeningSocket> listening_sockets(std::uint16_t port, bool has_v4);

}  // namespace sitter
