#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>
#include <string>
#include <vector>

#include "io/http/http_client.hpp"
#include "io/http/listener.hpp"
#include "io/http/tcp_address.hpp"
#include "support/few_descriptors_left.hpp"
#include "support/http_client_script.hpp"

/// Connections that are kept for the next request.
namespace sitter {
namespace {

using ::testing::ElementsAre;
using testing::FewDescriptorsLeft;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::response;
using testing::run_what_is_due;
using testing::runs_until;
using testing::ScriptedServer;
using ::testing::SizeIs;
using Peer = ScriptedServer::Peer;

TEST_F(HttpClientTest, AConnectionIsUsedAgain) {
  start_server();
  answer(response("ok"));
  for (unsigned i = 1; i <= 3; ++i) {
    send(i);
    until_over(i);
  }
  EXPECT_THAT(server_->requests, SizeIs(3));
  EXPECT_EQ(connection_count(), 1U);
}

TEST_F(HttpClientTest, ItIsUsedAgainFromWithinTheLastFact) {
  start_server();
  answer(response("ok"));
  on_fact_ = [this] {
    if (told_.back() == "1 ended") client_->carry_out(post(2));
  };
  send(1);
  EXPECT_THAT(until_over(2),
              ElementsAre("1 200", "1 body ok", "1 ended", "2 200", "2 body ok", "2 ended"));
  EXPECT_EQ(connection_count(), 1U);
}

TEST_F(HttpClientTest, TwoRequestsAtOnceHaveTwoConnections) {
  start_server();
  std::vector<Peer*> asked;
  server_->on_request = [&](Peer& peer, const std::string&) { asked.push_back(&peer); };
  order(post(1, "first"));
  order(post(2, "second"));
  ASSERT_TRUE(runs_until(loop_, [&] { return asked.size() == 2; }));
  ASSERT_TRUE(server_->requests[1].ends_with("second"));
  asked[1]->send(response("2"));
  EXPECT_THAT(until_over(2), ElementsAre("2 200", "2 body 2", "2 ended"));
  asked[0]->send(response("1"));
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body 1", "1 ended"));
  EXPECT_EQ(connection_count(), 2U);

  // The one that was used last is used again.
  send(3);
  ASSERT_TRUE(runs_until(loop_, [&] { return asked.size() == 3; }));
  EXPECT_EQ(asked[2], asked[0]);
  EXPECT_EQ(connection_count(), 2U);
}

TEST_F(HttpClientTest, AConnectionIsClosedWhenItMayNotBeUsedAgain) {
  start_server();
  answer(response("ok", "Keep-Alive: timeout=2\r\n"));
  send(1);
  until_over(1);
  now_ += Milliseconds(1'000);
  EXPECT_TRUE(server_->peers.front()->is_open());
  EXPECT_TRUE(runs_until(loop_, [&] { return !server_->peers.front()->is_open(); }));
  EXPECT_THAT(due(), IsEmpty());
}

TEST_F(HttpClientTest, AnIdleConnectionMakesRoomForAnotherOne) {
  start_server();
  answer(response("ok"));
  send(1);
  until_over(1);
  const FewDescriptorsLeft none(0);
  connect(2);
  EXPECT_THAT(until_over(2), ElementsAre("2 connected"));
}

TEST_F(HttpClientTest, ALackOfDescriptorsSaysNothingOfTheDaemon) {
  start_server();
  answer(response("ok"));
  {
    const FewDescriptorsLeft none(0);
    send(1);
    EXPECT_THAT(until_over(1),
                ElementsAre("1 no_descriptor: mcp-sitter may open no more files, so it can't "
                            "connect to " +
                            address()));
  }
  send(2);
  EXPECT_THAT(until_over(2), ElementsAre("2 200", "2 body ok", "2 ended"));
}

/// A response that announces for how long its connection is kept, and what follows from it.
class HttpClientIdleTest : public HttpClientTest {
 protected:
  /// Whether the connection is used again after this time.
  bool is_used_again_after(const std::string& headers, Milliseconds idle) {
    start_server();
    answer(response("ok", headers));
    send(1);
    until_over(1);
    now_ += idle;
    send(2);
    until_over(2);
    return connection_count() == 1;
  }
};

TEST_F(HttpClientIdleTest, WithoutAnAnnouncementItIsFourSeconds) {
  EXPECT_TRUE(is_used_again_after("", limits::kIdleDefault - Milliseconds(1)));
  EXPECT_FALSE(is_used_again_after("", limits::kIdleDefault));
}

TEST_F(HttpClientIdleTest, AnAnnouncedTimeCountsLessOneSecond) {
  const std::string header = "Keep-Alive: timeout=10, max=100\r\n";
  EXPECT_TRUE(is_used_again_after(header, Milliseconds(8'999)));
  EXPECT_FALSE(is_used_again_after(header, Milliseconds(9'000)));
}

TEST_F(HttpClientIdleTest, AnAnnouncementOfASecondOrLessKeepsNothing) {
  EXPECT_FALSE(is_used_again_after("Keep-Alive: timeout=1\r\n", Milliseconds(0)));
  EXPECT_FALSE(is_used_again_after("Keep-Alive: timeout=0\r\n", Milliseconds(0)));
}

TEST_F(HttpClientIdleTest, NoConnectionIsKeptForMoreThanAnHour) {
  const Milliseconds longest = limits::kIdleMax - limits::kIdleMargin;
  for (const char* const seconds : {"3600", "3601", "99999999999999999999999"}) {
    const std::string header = "Keep-Alive: timeout=" + std::string(seconds) + "\r\n";
    EXPECT_TRUE(is_used_again_after(header, longest - Milliseconds(1))) << seconds;
    EXPECT_FALSE(is_used_again_after(header, longest)) << seconds;
  }
}

TEST_F(HttpClientIdleTest, IgnoresAnUnreadableKeepAliveTimeout) {
  EXPECT_TRUE(is_used_again_after("Keep-Alive: max=5\r\n", Milliseconds(3'999)));
  EXPECT_FALSE(is_used_again_after("Keep-Alive: timeout=soon\r\n", Milliseconds(4'000)));
}

TEST_F(HttpClientIdleTest, AnEarlierResponseSetsNoTimeForALaterOne) {
  EXPECT_TRUE(is_used_again_after("Keep-Alive: timeout=100\r\n", Milliseconds(0)));
  answer(response("ok"));
  send(3);
  until_over(3);
  now_ += limits::kIdleDefault;
  send(4);
  until_over(4);
  EXPECT_EQ(connection_count(), 2U);
}

TEST_F(HttpClientTest, AConnectionThatTheDaemonWillCloseIsNotUsedAgain) {
  start_server();
  answer(response("ok", "Connection: close\r\n"));
  send(1);
  until_over(1);
  send(2);
  until_over(2);
  EXPECT_EQ(connection_count(), 2U);
}

TEST_F(HttpClientTest, AnOldDaemonEndsItsResponseWithTheConnection) {
  start_server();
  server_->on_request = [](Peer& peer, const std::string&) {
    peer.send("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello");
    peer.close();
  };
  send(1);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body hello", "1 ended"));
  send(2);
  until_over(2);
  EXPECT_EQ(connection_count(), 2U);
}

TEST_F(HttpClientTest, AConnectionThatWasClosedWhileIdleIsNotUsedAgain) {
  start_server();
  answer(response("ok"));
  send(1);
  until_over(1);
  server_->peers.front()->close();
  EXPECT_THAT(due(), ElementsAre("idle closed"));
  send(2);
  EXPECT_THAT(until_over(2), ElementsAre("2 200", "2 body ok", "2 ended"));
}

TEST_F(HttpClientTest, DetectsAPendingCloseBeforeReusingAConnection) {
  start_server();
  answer(response("ok"));
  send(1);
  until_over(1);
  server_->peers.front()->close();
  testing::let_bytes_arrive();
  send(2);
  EXPECT_THAT(until_over(2), ElementsAre("idle closed", "2 200", "2 body ok", "2 ended"));
  EXPECT_EQ(connection_count(), 2U);
}

TEST_F(HttpClientTest, AConnectionThatSaidSomethingWhileIdleIsNotUsedAgain) {
  start_server();
  answer(response("ok"));
  send(1);
  until_over(1);
  server_->peers.front()->send(response("nobody asked"));
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_FALSE(server_->peers.front()->is_open());
  send(2);
  EXPECT_THAT(until_over(2), ElementsAre("2 200", "2 body ok", "2 ended"));
}

TEST_F(HttpClientTest, BytesBehindAResponseCloseItsConnection) {
  start_server();
  answer(response("ok") + "more");
  send(1);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body ok", "1 ended"));
  due();
  EXPECT_FALSE(server_->peers.front()->is_open());
}

TEST_F(HttpClientTest, AConnectionIsOpenedAndKept) {
  start_server();
  answer(response("ok"));
  connect(1);
  EXPECT_THAT(until_over(1), ElementsAre("1 connected"));
  EXPECT_EQ(listener_, listener_at({boost::asio::ip::address_v4::loopback(), server_->port()}));
  send(2);
  until_over(2);
  EXPECT_EQ(connection_count(), 1U);
}

}  // namespace
}  // namespace sitter
