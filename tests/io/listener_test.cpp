#include "io/http/listener.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "io/http/tcp_address.hpp"
#include "io/system/file_descriptor.hpp"
#include "support/sockets.hpp"

namespace sitter {
namespace {

TcpAddress at(const std::string& host, std::uint16_t port) {
  return {boost::asio::ip::make_address(host), port};
}

/// What a socket is called by the system.
ListenerId id_of(const FileDescriptor& socket) {
  struct stat facts {};
  EXPECT_EQ(fstat(socket.number(), &facts), 0);
  return ListenerId{facts.st_ino};
}

/// A socket that listens at this address. Port 0 lets the system choose. An IPv6 socket also gets
/// IPv4 connections if `is_dual`.
FileDescriptor listen_at(const std::string& host, std::uint16_t port, bool is_dual = false,
                         bool shares_port = false) {
  sockaddr_in6 v6{};
  sockaddr_in v4{};
  const bool is_v6 = inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1;
  FileDescriptor made = testing::tcp_socket(is_v6 ? AF_INET6 : AF_INET);
  const int on = 1;
  if (shares_port) setsockopt(made.number(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  int result = 0;
  if (is_v6) {
    const int only = is_dual ? 0 : 1;
    setsockopt(made.number(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    result = bind(made.number(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  } else {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    inet_pton(AF_INET, host.c_str(), &v4.sin_addr);
    result = bind(made.number(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  }
  EXPECT_EQ(result, 0) << std::strerror(errno);
  EXPECT_EQ(listen(made.number(), 1), 0);
  return made;
}

std::uint16_t port_of(const FileDescriptor& socket) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin6_port);  // at the same place in an IPv4 address
}

TEST(ListenerTest, TheSocketAtTheAddressIsFound) {
  const FileDescriptor four = listen_at("127.0.0.1", 0);
  const std::uint16_t port = port_of(four);
  EXPECT_EQ(listener_at(at("127.0.0.1", port)), id_of(four));
  EXPECT_EQ(listener_at(at("::ffff:127.0.0.1", port)), id_of(four));
  EXPECT_EQ(listener_at(at("127.0.0.2", port)), kNoListener);
  EXPECT_EQ(listener_at(at("::1", port)), kNoListener);

  const FileDescriptor six = listen_at("::1", port);
  EXPECT_EQ(listener_at(at("::1", port)), id_of(six));
  EXPECT_EQ(listener_at(at("127.0.0.1", port)), id_of(four));
}

TEST(ListenerTest, ASocketThatOnlyHasTheAddressDoesNotListen) {
  const FileDescriptor bound = testing::tcp_socket(AF_INET);
  const std::uint16_t port = ntohs(testing::bind_to_loopback(bound).sin_port);
  EXPECT_EQ(listener_at(at("127.0.0.1", port)), kNoListener);
}

TEST(ListenerTest, ASocketAtAllAddressesCounts) {
  const FileDescriptor four = listen_at("0.0.0.0", 0);
  EXPECT_EQ(listener_at(at("127.0.0.1", port_of(four))), id_of(four));
  EXPECT_EQ(listener_at(at("127.1.2.3", port_of(four))), id_of(four));
  EXPECT_EQ(listener_at(at("::1", port_of(four))), kNoListener);
  const FileDescriptor six = listen_at("::", 0);
  EXPECT_EQ(listener_at(at("::1", port_of(six))), id_of(six));
  EXPECT_EQ(listener_at(at("127.0.0.1", port_of(six))), kNoListener);
}

TEST(ListenerTest, ASocketOfBothFamiliesCountsForBoth) {
  const FileDescriptor both = listen_at("::", 0, true);
  EXPECT_EQ(listener_at(at("127.0.0.1", port_of(both))), id_of(both));
  EXPECT_EQ(listener_at(at("::1", port_of(both))), id_of(both));
}

TEST(ListenerTest, TheSocketThatFitsBestGetsTheConnection) {
  const FileDescriptor all = listen_at("0.0.0.0", 0, false, true);
  const std::uint16_t port = port_of(all);
  const FileDescriptor one = listen_at("127.0.0.1", port, false, true);
  EXPECT_EQ(listener_at(at("127.0.0.1", port)), id_of(one));
  EXPECT_EQ(listener_at(at("127.0.0.2", port)), id_of(all));
}

TEST(ListenerTest, SocketsThatShareAnAddressHaveNoIdentity) {
  FileDescriptor first = listen_at("127.0.0.1", 0, false, true);
  const std::uint16_t port = port_of(first);
  const FileDescriptor second = listen_at("127.0.0.1", port, false, true);
  EXPECT_EQ(listener_at(at("127.0.0.1", port)), kNoListener);
  first.close();
  EXPECT_EQ(listener_at(at("127.0.0.1", port)), id_of(second));
}

TEST(ListenerTest, ASocketThatTakesThePlaceOfAnotherDiffers) {
  FileDescriptor first = listen_at("127.0.0.1", 0);
  const std::uint16_t port = port_of(first);
  const ListenerId before = listener_at(at("127.0.0.1", port));
  first.close();
  EXPECT_EQ(listener_at(at("127.0.0.1", port)), kNoListener);
  const FileDescriptor second = listen_at("127.0.0.1", port);
  EXPECT_NE(listener_at(at("127.0.0.1", port)), before);
  EXPECT_NE(listener_at(at("127.0.0.1", port)), kNoListener);
}

TEST(ListenerTest, KnowsNoListenersOfOtherMachines) {
  const FileDescriptor all = listen_at("0.0.0.0", 0);
  EXPECT_EQ(listener_at(at("192.0.2.1", port_of(all))), kNoListener);
  EXPECT_EQ(listener_at(at("2001:db8::1", port_of(all))), kNoListener);
  EXPECT_EQ(listener_at({}), kNoListener);
}

TEST(ListenerTest, TheProcessThatHasTheSocketIsFound) {
  FileDescriptor socket = listen_at("127.0.0.1", 0);
  const ListenerId listener = listener_at(at("127.0.0.1", port_of(socket)));
  EXPECT_EQ(pid_of(listener), getpid());
  socket.close();
  EXPECT_EQ(pid_of(listener), std::nullopt);
  EXPECT_EQ(pid_of(kNoListener), std::nullopt);
}

}  // namespace
}  // namespace sitter
