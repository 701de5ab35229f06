#include <boost/asio/detail/epoll_reactor.hpp>

#include "io/stream/asio_epoll.hpp"

namespace sitter {
namespace {

/// Naming a private member is allowed in an explicit instantiation. With a Boost in which it is
/// called otherwise this file does not compile, and CMake takes `event_loop_asio.cpp` instead.
template <auto member>
struct Reveal {
  friend auto epoll_member() { return member; }
};
auto epoll_member();
template struct Reveal<&boost::asio::detail::epoll_reactor::epoll_fd_>;

}  // namespace

int asio_epoll(boost::asio::io_context& io) {
  return boost::asio::use_service<boost::asio::detail::epoll_reactor>(io).*epoll_member();
}

}  // namespace sitter
