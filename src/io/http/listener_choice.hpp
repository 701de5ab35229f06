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

/// The IPv4 address that an IPv6 address of the form ::ffff:127.0.0.1 stands for. Any other address
/// is returned unchanged.
boost::asio::ip::address without_mapping(const boost::asio::ip::address& address);

/// The socket to which the system gives a connection to this address, which is one without mapping:
/// the socket that fits best. `kNoListener` if none fits, or several fit equally well.
ListenerId choose_listener(const std::vector<ListeningSocket>& sockets,
                           const boost::asio::ip::address& address);

}  // namespace sitter
