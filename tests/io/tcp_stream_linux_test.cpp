#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/http/listener.hpp"
#include "support/sockets.hpp"
#include "tcp_stream_script.hpp"

namespace sitter {
namespace {

TEST_F(TcpStreamTest, ItTellsWhatListens) {
  open_to_server();
  EXPECT_NE(stream_->listener(), kNoListener);
  EXPECT_EQ(stream_->listener(),
            listener_at({boost::asio::ip::address_v4::loopback(), server_->port()}));
}

TEST_F(TcpStreamTest, AConnectionToItselfIsRecognized) {
  const FileDescriptor own = testing::tcp_socket(AF_INET);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(own.number(), any, size), 0);
  EXPECT_FALSE(is_connected_to_itself(own.number()));
  ASSERT_EQ(getsockname(own.number(), any, &size), 0);
  ASSERT_EQ(connect(own.number(), any, size), 0);
  EXPECT_TRUE(is_connected_to_itself(own.number()));
}

}  // namespace
}  // namespace sitter
