#pragma once

#include <boost/asio/io_context.hpp>

namespace sitter {

/// The epoll in which this context waits. There is no public way to it.
int asio_epoll(boost::asio::io_context& io);

}  // namespace sitter
