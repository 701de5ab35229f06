#include "io/http/listener.hpp"

#include "io/http/listening_sockets.hpp"
#include "io/http/tcp_address.hpp"

namespace sitter {
namespace {

namespace ip = boost::asio::ip;

/// The IPv4 address that an IPv6 address of the form ::ffff:127.0.0.1 stands for. Any other address
/// is returned unchanged.
ip::address without_mapping(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

/// How well a socket fits an address.
enum class Fit : std::uint8_t { none, dual_stack, wildcard, exact };

Fit fit(const ListeningSocket& socket, const ip::address& address) {
  if (without_mapping(socket.address) == address) return Fit::exact;
  if (!socket.address.is_unspecified()) return Fit::none;
  if (socket.address.is_v6() == address.is_v6()) return Fit::wildcard;
  return socket.address.is_v6() && !socket.is_v6_only ? Fit::dual_stack : Fit::none;
}

/// The socket to which the system gives a connection to this address, which is one without mapping:
/// the socket that fits best. `kNoListener` if none fits, or several fit equally well.
ListenerId choose_listener(const std::vector<ListeningSocket>& sockets,
                           const ip::address& address) {
  Fit best = Fit::none;
  ListenerId chosen = kNoListener;
  for (const ListeningSocket& socket : sockets) {
    const Fit its_fit = fit(socket, address);
    if (its_fit == Fit::none || its_fit < best) continue;
    // Sockets that share an address (SO_REUSEPORT) get the connections in turn.
    chosen = its_fit == best ? kNoListener : socket.id;
    best = its_fit;
  }
  return chosen;
}

}  // namespace

ListenerId listener_at(const TcpAddress& address) {
  const ip::address host = without_mapping(address.host);
  if (!host.is_loopback()) return kNoListener;
  return choose_listener(listening_sockets(address.port, host.is_v4()), host);
}

}  // namespace sitter
