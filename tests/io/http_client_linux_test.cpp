// Only Linux is asked which process listens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "io/http/listener.hpp"
#include "io/http/tcp_address.hpp"
#include "support/http_client_script.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::response;
using testing::ScriptedServer;
using Peer = ScriptedServer::Peer;

TEST_F(HttpClientTest, ARequestIsOnlySentToTheListenerThatItIsMeantFor) {
  start_server();
  answer(response("ok"));
  connect(1);
  until_over(1);
  order::HttpSend request = post(2);
  request.listener = listener_;
  order(request);
  EXPECT_THAT(until_over(2), ElementsAre("2 200", "2 body ok", "2 ended"));
  EXPECT_EQ(connection_count(), 1U);

  // The daemon is started anew at the same port.
  const std::uint16_t port = server_->port();
  server_.reset();
  due();
  server_ = std::make_unique<ScriptedServer>(loop_, "127.0.0.1", port);
  answer(response("new"));
  request.exchange = id(3);
  order(request);
  EXPECT_THAT(until_over(3),
              ElementsAre("3 other_listener: another process listens on " + address() + " by now"));
  due();
  EXPECT_THAT(server_->requests, IsEmpty());

  connect(4);
  until_over(4);
  EXPECT_NE(listener_, request.listener);
  request.exchange = id(5);
  request.listener = listener_;
  order(request);
  EXPECT_THAT(until_over(5), ElementsAre("5 200", "5 body new", "5 ended"));
}

TEST_F(HttpClientTest, AnOpenedConnectionTellsItsListener) {
  start_server();
  connect(1);
  until_over(1);
  EXPECT_NE(listener_, kNoListener);
}

TEST_F(HttpClientTest, AKeptConnectionToAFormerListenerIsNotUsed) {
  start_server();
  answer(response("old"));
  connect(1);
  until_over(1);
  // The former daemon still serves the connection.
  const std::uint16_t port = server_->port();
  server_->stop_listening();
  ScriptedServer next(loop_, "127.0.0.1", port);
  next.on_request = [](Peer& peer, const std::string&) { peer.send(response("new")); };
  order::HttpSend request = post(2);
  request.listener = listener_at({boost::asio::ip::address_v4::loopback(), port});
  order(request);
  EXPECT_THAT(until_over(2), ElementsAre("2 200", "2 body new", "2 ended"));
  EXPECT_THAT(server_->requests, IsEmpty());
}

}  // namespace
}  // namespace sitter
