#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>

#include "io/http/listener.hpp"
#include "io/http/tcp_address.hpp"
#include "support/sockets.hpp"
#include "tcp_stream_script.hpp"

namespace sitter {
namespace {

TEST_F(TcpStreamTest, ReportsItsListener) {
  open_to_server();
  EXPECT_NE(stream_->listener(), kNoListener);
  EXPECT_EQ(stream_->listener(),
            listener_at({boost::asio::ip::address_v4::loopback(), server_->port()}));
}

TEST_F(TcpStreamTest, AConnectionToItselfIsRecognized) {
  const FileDescriptor own = testing::tcp_socket(AF_INET);
  const sockaddr_in address = testing::bind_to_loopback(own);
  EXPECT_FALSE(is_connected_to_itself(own.number()));
  ASSERT_TRUE(testing::connects(own, address));
  EXPECT_TRUE(is_connected_to_itself(own.number()));
}

}  // namespace
}  // namespace sitter
