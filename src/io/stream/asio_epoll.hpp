#pragma once

#include <boost/asio/io_context.hpp>

namespace sitter {

/// The epoll in which this context waits. Asio has no function that returns it.
int asio_epoll(boost::asio::io_context& io);

}  // namespace sitter
