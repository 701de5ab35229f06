#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/http/listener.hpp"
#include "io/http/tcp_stream.hpp"
#include "sitter/bytes.hpp"
#include "support/held_port.hpp"
#include "support/http_client_script.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HeldPort;
using ::testing::IsEmpty;
using testing::response;
using testing::run_what_is_due;
using testing::runs_until;
using testing::ScriptedServer;
using ::testing::SizeIs;
using Peer = ScriptedServer::Peer;
using Method = order::HttpSend::Method;

// ---- one exchange

TEST_F(HttpClientTest, ARequestGetsItsResponse) {
  start_server();
  answer(response("hello", "Content-Type: text/plain\r\n"));
  order::HttpSend request = post(1, "{\"a\":1}");
  request.target = "/mcp?x=y";
  request.headers = "Content-Type: application/json\r\nAccept: text/event-stream\r\n";
  order(request);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body hello", "1 ended"));
  EXPECT_THAT(headers_, ElementsAre(HttpHeader{"content-type", "text/plain"}));
  EXPECT_THAT(server_->requests,
              ElementsAre("POST /mcp?x=y HTTP/1.1\r\nHost: " + address() +
                          "\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
                          "Content-Length: 7\r\n\r\n{\"a\":1}"));
}

TEST_F(HttpClientTest, SignalsTheEndOfOneReadOnce) {
  start_server();
  answer(response("hello"));
  send(1);
  until_over(1);
  run_what_is_due(loop_);
  EXPECT_EQ(told_count_, 1);
}

TEST_F(HttpClientTest, RequestsWithoutABodySayNothingOfALength) {
  start_server();
  answer(response(""));
  order::HttpSend request = post(1, "");
  request.method = Method::get;
  order(request);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 ended"));
  request.exchange = id(2);
  request.method = Method::del;
  order(request);
  until_over(2);
  const std::string rest = " /mcp HTTP/1.1\r\nHost: " + address() + "\r\n\r\n";
  EXPECT_THAT(server_->requests, ElementsAre("GET" + rest, "DELETE" + rest));
}

TEST_F(HttpClientTest, AnEmptyBodyOfAPostHasALength) {
  start_server();
  answer(response(""));
  order(post(1, ""));
  until_over(1);
  EXPECT_THAT(server_->requests, ElementsAre(HasSubstr("\r\nContent-Length: 0\r\n\r\n")));
}

TEST_F(HttpClientTest, AResponseMayComeByteByByte) {
  start_server();
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  std::size_t sent = 0;
  std::function<void()> send_next = [&] {
    server_->peers.front()->send({&text[sent++], 1});
    if (sent < text.size()) loop_.post(send_next);
  };
  server_->on_request = [&](Peer&, const std::string&) { send_next(); };
  send(1);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body hello", "1 ended"));
}

TEST_F(HttpClientTest, OneResponseMayWaitWhileAnotherComes) {
  start_server();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
  send(1);
  EXPECT_TRUE(testing::runs_until(loop_, [&] { return told_.size() == 2; }));
  order(order::HttpPause{id(1), true});
  server_->peers.front()->send("k");
  answer(response("ok"));
  send(2);
  EXPECT_THAT(until_over(2), ElementsAre("1 200", "1 body o", "2 200", "2 body ok", "2 ended"));
  order(order::HttpPause{id(1), false});
  EXPECT_THAT(until_over(1), ElementsAre("1 body k", "1 ended"));
}

TEST_F(HttpClientTest, ALargeBodyComesWhole) {
  start_server();
  std::string body;
  while (body.size() < 10 * limits::kMiB) body += std::to_string(body.size()) + ' ';
  answer(response(body));
  send(1);
  const std::vector<std::string> told = until_over(1);
  ASSERT_THAT(told, SizeIs(3));
  EXPECT_TRUE(told[1] == "1 body " + body);
}

TEST_F(HttpClientTest, ALargeRequestIsQueuedUntilTheDaemonTakesIt) {
  start_server();
  answer(response("ok"));
  server_->on_accepted = [](Peer& peer) { peer.set_paused(true); };
  std::string body;
  while (body.size() < 10 * limits::kMiB) body += std::to_string(body.size()) + ' ';
  order(post(1, body));
  EXPECT_GT(client_->queued(), body.size());
  due();
  ASSERT_FALSE(server_->peers.empty());
  EXPECT_GT(client_->queued(), 0U);
  EXPECT_LT(client_->queued(), body.size());
  server_->peers.front()->set_paused(false);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body ok", "1 ended"));
  EXPECT_EQ(client_->queued(), 0U);
  EXPECT_TRUE(server_->requests.front().ends_with("\r\n\r\n" + body));

  order(post(2, body));
  EXPECT_GT(client_->queued(), 0U);
  until_over(2);
  EXPECT_TRUE(server_->requests.back().ends_with("\r\n\r\n" + body));
  EXPECT_EQ(connection_count(), 1U);
}

TEST_F(HttpClientTest, AfterAnAnswerBeforeTheWholeRequestTheConnectionIsClosed) {
  start_server();
  server_->on_accepted = [](Peer& peer) {
    peer.set_paused(true);
    peer.send(response("", {}, "413 Content Too Large"));
  };
  order(post(1, std::string(10 * limits::kMiB, 'x')));
  EXPECT_THAT(until_over(1), ElementsAre("1 413", "1 ended"));
  EXPECT_EQ(client_->queued(), 0U);
  server_->peers.front()->set_paused(false);
  ASSERT_TRUE(runs_until(loop_, [&] { return !server_->peers.front()->is_open(); }));
  EXPECT_THAT(server_->requests, IsEmpty());
}

// ---- what goes wrong

TEST_F(HttpClientTest, WithoutADaemonNothingIsSent) {
  const HeldPort port;
  connect_to(url(port.number()));
  send(1);
  const std::string reason = "nothing listens on 127.0.0.1:" + std::to_string(port.number());
  EXPECT_THAT(until_over(1), ElementsAre("1 not_connected: " + reason));
  connect(2);
  EXPECT_THAT(until_over(2), ElementsAre("2 not_connected: " + reason));
}

TEST_F(HttpClientTest, AConnectionThatEndsBeforeTheResponseIsBroken) {
  start_server();
  server_->on_request = [](Peer& peer, const std::string&) { peer.close(); };
  send(1);
  EXPECT_THAT(until_over(1), ElementsAre("1 broken: the connection ended before the response"));
}

TEST_F(HttpClientTest, AKeptConnectionThatEndsBeforeTheResponseIsBrokenToo) {
  start_server();
  answer(response("ok"));
  send(1);
  until_over(1);
  server_->on_request = [](Peer& peer, const std::string&) { peer.close(); };
  send(2);
  EXPECT_THAT(until_over(2), ElementsAre("2 broken: the connection ended before the response"));
  EXPECT_EQ(connection_count(), 1U);
}

TEST_F(HttpClientTest, AResponseThatBreaksOffIsBroken) {
  start_server();
  server_->on_request = [](Peer& peer, const std::string&) {
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    peer.close();
  };
  send(1);
  EXPECT_THAT(until_over(1),
              ElementsAre("1 200", "1 body hello",
                          "1 broken: the connection ended in the middle of the response"));
}

TEST_F(HttpClientTest, AConnectionThatIsBrokenOffSaysSo) {
  start_server();
  server_->on_request = [](Peer& peer, const std::string&) { peer.reset(); };
  send(1);
  EXPECT_THAT(until_over(1),
              ElementsAre("1 broken: the connection ended before the response (the connection to " +
                          address() + " has broken: Connection reset by peer)"));
}

TEST_F(HttpClientTest, ABodyWithoutALengthThatIsBrokenOffIsNoWholeBody) {
  start_server();
  answer("HTTP/1.1 200 OK\r\n\r\nhel");
  send(1);
  ASSERT_TRUE(runs_until(loop_, [&] { return told_.size() == 2; }));
  server_->peers.front()->reset();
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body hel", HasSubstr("1 broken: ")));
}

TEST_F(HttpClientTest, AResponseThatIsNoHttpIsBroken) {
  start_server();
  answer("-ERR unknown command\r\n");
  send(1);
  EXPECT_THAT(until_over(1), ElementsAre(HasSubstr("1 broken: the response is not valid HTTP (")));
  due();
  EXPECT_FALSE(server_->peers.front()->is_open());
}

TEST_F(HttpClientTest, ADaemonThatSpeaksFirstIsNotSentTheRequest) {
  start_server();
  HttpClient::Options options;
  options.url = url(server_->port());
  server_->on_accepted = [](Peer& peer) { peer.send("220 mail.example ESMTP\r\n"); };
  options.connect = [this](ByteStream::Events events) {
    // The client hears of its connection when the greeting is there. The loop accepts first.
    events.on_opened = [this, opened = std::move(events.on_opened)] {
      loop_.post([this, opened] {
        testing::let_bytes_arrive();
        loop_.post([opened] {
          testing::let_bytes_arrive();
          opened();
        });
      });
    };
    return std::make_unique<TcpStream>(loop_, TcpStream::Options{}, "127.0.0.1", server_->port(),
                                       std::move(events));
  };
  make_client(std::move(options));
  send(1);
  EXPECT_THAT(until_over(1),
              ElementsAre("1 not_connected: " + address() + " sent bytes before any request"));
  due();
  EXPECT_THAT(server_->requests, IsEmpty());
}

// ---- the end of an exchange before its end

TEST_F(HttpClientTest, AfterAnAbortNothingComesAndTheConnectionIsClosed) {
  start_server();
  send(1);
  ASSERT_TRUE(runs_until(loop_, [&] { return server_->requests.size() == 1; }));
  abort(1);
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_FALSE(server_->peers.front()->is_open());
}

TEST_F(HttpClientTest, AnAbortMayComeBeforeTheConnectionIsOpen) {
  start_server();
  send(1);
  connect(2);
  abort(1);
  abort(2);
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_THAT(server_->requests, IsEmpty());
  EXPECT_EQ(client_->queued(), 0U);
}

TEST_F(HttpClientTest, AnAbortMayComeFromWithinAnyFact) {
  for (const char* const last : {"1 200", "1 body a"}) {
    told_.clear();
    start_server();
    answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
    on_fact_ = [&] {
      if (told_.back() == last) client_->carry_out(order::HttpAbort{id(1)});
    };
    send(1);
    ASSERT_TRUE(runs_until(loop_, [&] { return !told_.empty() && told_.back() == last; }));
    due();
    EXPECT_FALSE(server_->peers.front()->is_open());
  }
}

TEST_F(HttpClientTest, AnAbortOfAnExchangeThatIsOverLeavesTheConnectionAlone) {
  start_server();
  answer(response("ok"));
  send(1);
  until_over(1);
  abort(1);
  abort(7);
  send(2);
  until_over(2);
  EXPECT_EQ(connection_count(), 1U);
}

TEST_F(HttpClientTest, TheClientMayGoInAFact) {
  start_server();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  on_fact_ = [this] { client_.reset(); };
  send(1);
  ASSERT_TRUE(runs_until(loop_, [&] { return !client_; }));
  EXPECT_THAT(due(), ElementsAre("1 200"));
  EXPECT_FALSE(server_->peers.front()->is_open());
}

TEST_F(HttpClientTest, WithoutTheClientAllConnectionsAreClosed) {
  start_server();
  answer(response("ok"));
  send(1);
  until_over(1);
  server_->on_request = [](Peer&, const std::string&) {};
  send(2);
  send(3);
  due();
  client_.reset();
  EXPECT_THAT(due(), IsEmpty());
  for (const auto& peer : server_->peers) EXPECT_FALSE(peer->is_open());
}

TEST_F(HttpClientTest, DuringAPauseNoResponseIsRead) {
  start_server();
  answer(response("ok", "Connection: close\r\n"));
  client_->set_paused(true);
  send(1);
  server_->on_request = [](Peer& peer, const std::string&) {
    peer.send(response("ok", "Connection: close\r\n"));
    peer.close();
  };
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_THAT(server_->requests, SizeIs(1));
  client_->set_paused(false);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body ok", "1 ended"));
}

TEST_F(HttpClientTest, ADaemonAtTheIPv6AddressIsFoundUnderLocalhost) {
  server_ = std::make_unique<ScriptedServer>(loop_, "::1");
  answer(response("six"));
  connect_to(url(server_->port(), "localhost"));
  send(1);
  EXPECT_THAT(until_over(1), ElementsAre("1 200", "1 body six", "1 ended"));
  EXPECT_THAT(server_->requests,
              ElementsAre(HasSubstr("\r\nHost: localhost:" + std::to_string(server_->port()))));
}

}  // namespace
}  // namespace sitter
