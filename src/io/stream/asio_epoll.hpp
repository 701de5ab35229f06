#pragma once

namespace boost::asio {
class io_context;
}

namespace sitter {

/// The epoll in which this context waits. Asio has no function that returns it.
int asio_epoll(boost::asio::io_context& io);

}  // namespace sitter
