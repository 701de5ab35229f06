#include <boost/asio/detail/epoll_reactor.hpp>
#include <boost/asio/io_context.hpp>

#include "io/stream/asio_epoll.hpp"

namespace sitter {
namespace {

/// C++ allows an explicit instantiation to name a private member. If a version of Boost names this
/// member differently, this file does not compile, and CMake takes `event_loop_asio.cpp` instead.
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
