#include "io/http/proxy_tunnel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "io/http/certificate_words.hpp"
#include "support/memory_stream.hpp"
#include "support/processes.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A tunnel through the proxy 127.0.0.1:3128 to example.com:443.
class ProxyTunnelTest : public ::testing::Test {
 protected:
  void make(Milliseconds wait = limits::kTunnelWait, const std::string& authorization = "") {
    tunnel_.reset();
    tunnel_ = std::make_unique<ProxyTunnel>(
        loop_,
        ProxyTunnel::Options{
            {"127.0.0.1", 3128, authorization}, {true, "example.com", 443, "/mcp"}, wait},
        proxy_.near(),
        ByteStream::Events{
            [this] { happens("opened"); },
            [this](std::string_view bytes) { happens("bytes " + std::string(bytes)); },
            [this](std::string reason) {
              happens("closed: " + reason);
              if (stops_at_end_) loop_.stop();
            }});
  }
  /// A tunnel whose proxy waits for a request.
  void ask() {
    make();
    proxy_.open();
    proxy_.take_written();
  }
  void open() {
    ask();
    proxy_.deliver("HTTP/1.1 200 OK\r\n\r\n");
    EXPECT_THAT(done(), ElementsAre("opened"));
  }
  void happens(const std::string& event) {
    events_.push_back(event);
    if (event == drops_at_) tunnel_.reset();
  }
  std::vector<std::string> done() { return std::exchange(events_, {}); }
  void run_what_is_due() {
    loop_.io().restart();
    loop_.post([this] { loop_.post([this] { loop_.stop(); }); });
    loop_.run();
  }

  EventLoop loop_;
  testing::MemoryConnection proxy_;
  std::unique_ptr<ProxyTunnel> tunnel_;
  std::vector<std::string> events_;
  /// The owner destroys the tunnel within this event.
  std::string drops_at_;
  bool stops_at_end_ = false;
};

TEST_F(ProxyTunnelTest, AsksForTheHostAndOpensWithTheAnswer) {
  make();
  EXPECT_EQ(proxy_.take_written(), "");
  proxy_.open();
  EXPECT_EQ(proxy_.take_written(),
            "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
  EXPECT_EQ(proxy_.writes(), 1);
  EXPECT_THAT(done(), IsEmpty());
  proxy_.deliver("HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n");
  EXPECT_THAT(done(), ElementsAre("opened"));
  tunnel_->write("hello");
  EXPECT_EQ(proxy_.take_written(), "hello");
  proxy_.deliver("world");
  EXPECT_THAT(done(), ElementsAre("bytes world"));
  proxy_.set_queued(7);
  EXPECT_EQ(tunnel_->queued(), 7U);
  proxy_.close();
  EXPECT_THAT(done(), ElementsAre("closed: "));
  EXPECT_FALSE(proxy_.is_in_use());
}

TEST_F(ProxyTunnelTest, SendsTheAuthorization) {
  make(limits::kTunnelWait, "Basic bWU6");
  proxy_.open();
  EXPECT_EQ(proxy_.take_written(),
            "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n"
            "Proxy-Authorization: Basic bWU6\r\n\r\n");
  proxy_.deliver("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  EXPECT_THAT(done(), ElementsAre("closed: the proxy 127.0.0.1:3128 refused the connection: "
                                  "407 Proxy Authentication Required"));
}

TEST_F(ProxyTunnelTest, PutsAnIpv6AddressIntoBrackets) {
  ProxyTunnel tunnel(loop_, {{"::1", 3128, ""}, {true, "fd00::1", 8443, "/"}}, proxy_.near(), {});
  proxy_.open();
  EXPECT_EQ(proxy_.take_written(),
            "CONNECT [fd00::1]:8443 HTTP/1.1\r\nHost: [fd00::1]:8443\r\n\r\n");
}

TEST_F(ProxyTunnelTest, ReadsAnAnswerThatComesInTwoPieces) {
  for (const std::string line_end : {"\r\n", "\n"}) {
    const std::string answer = "HTTP/1.0 200 OK" + line_end + "Via: x" + line_end + line_end;
    for (std::size_t cut = 1; cut < answer.size(); ++cut) {
      testing::MemoryConnection proxy;
      std::vector<std::string> events;
      ProxyTunnel tunnel(
          loop_, {{"proxy", 1, ""}, {}}, proxy.near(),
          {[&] { events.push_back("opened"); },
           [&](std::string_view bytes) { events.push_back("bytes " + std::string(bytes)); },
           [&](std::string reason) { events.push_back("closed: " + reason); }});
      proxy.open();
      proxy.deliver(answer.substr(0, cut));
      EXPECT_THAT(events, IsEmpty()) << cut;
      proxy.deliver(answer.substr(cut) + "more");
      EXPECT_THAT(events, ElementsAre("opened", "bytes more")) << cut;
    }
  }
}

TEST_F(ProxyTunnelTest, ReadsAnAnswerByteByByte) {
  ask();
  for (const char c : std::string("HTTP/1.1 200 OK\r\nVia: x\r\n\r\nab")) {
    proxy_.deliver(std::string(1, c));
  }
  EXPECT_THAT(done(), ElementsAre("opened", "bytes a", "bytes b"));
}

TEST_F(ProxyTunnelTest, SkipsInterimAnswers) {
  ask();
  proxy_.deliver("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
  EXPECT_THAT(done(), IsEmpty());
  proxy_.deliver("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_THAT(done(), ElementsAre("opened"));
}

TEST_F(ProxyTunnelTest, SaysWhyTheProxyRefuses) {
  const auto answer = [this](const std::string& line) {
    ask();
    proxy_.deliver(line + "\r\n\r\n<html>");
    EXPECT_FALSE(proxy_.is_in_use());
    return done();
  };
  const std::string refused = "closed: the proxy 127.0.0.1:3128 refused the connection: ";
  EXPECT_THAT(answer("HTTP/1.1 403 Forbidden"), ElementsAre(refused + "403 Forbidden"));
  EXPECT_THAT(answer("HTTP/1.1 502 "), ElementsAre(refused + "502"));
  EXPECT_THAT(answer("HTTP/1.1 503"), ElementsAre(refused + "503"));
  EXPECT_THAT(answer("HTTP/1.1 302 Found"), ElementsAre(refused + "302 Found"));
  EXPECT_THAT(answer("HTTP/1.1 101 Switching Protocols"),
              ElementsAre(refused + "101 Switching Protocols"));
  EXPECT_THAT(answer("HTTP/1.1 500 a\x1b[31mb"), ElementsAre(refused + "500 ab"));
  EXPECT_THAT(answer("HTTP/1.1 500 " + std::string(limits::kPeerTextMax, 'x')),
              ElementsAre(refused + "500 " + std::string(limits::kPeerTextMax - 4, 'x') +
                          "… [4 bytes cut]"));
}

TEST_F(ProxyTunnelTest, SaysThatTheProxyDoesNotSpeakHttp) {
  for (const std::string bytes : {"SSH-2.0-OpenSSH\r\n", "\x15\x03\x01", "HTTP/2",
                                  "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1\r\n\r\n"}) {
    ask();
    proxy_.deliver(bytes);
    EXPECT_THAT(done(), ElementsAre("closed: the proxy 127.0.0.1:3128 does not speak HTTP"))
        << bytes;
  }
}

TEST_F(ProxyTunnelTest, TheHeadOfTheAnswerHasABound) {
  const std::string start = "HTTP/1.1 200 OK\r\nX: ";
  const std::string end = "\r\n\r\n";
  const std::size_t room = limits::kTunnelHeadMax - start.size() - end.size();
  ask();
  proxy_.deliver(start + std::string(room, 'x') + end + std::string(100, 'y'));
  EXPECT_THAT(done(), ElementsAre("opened", "bytes " + std::string(100, 'y')));
  const std::string refusal =
      "closed: the answer of the proxy 127.0.0.1:3128 has a head of more than 64 KiB";
  ask();
  proxy_.deliver(start + std::string(room + 1, 'x') + end);
  EXPECT_THAT(done(), ElementsAre(refusal));
  ask();
  proxy_.deliver(start + std::string(limits::kTunnelHeadMax - start.size(), 'x'));
  EXPECT_THAT(done(), IsEmpty());
  proxy_.deliver("x");
  EXPECT_THAT(done(), ElementsAre(refusal));
}

TEST_F(ProxyTunnelTest, SaysThatTheProxyCannotBeReached) {
  make();
  proxy_.close("nothing listens on 127.0.0.1:3128");
  EXPECT_THAT(done(), ElementsAre("closed: the proxy 127.0.0.1:3128 can't be reached: "
                                  "nothing listens on 127.0.0.1:3128"));
}

TEST_F(ProxyTunnelTest, SaysThatTheProxyEndsWithoutAnAnswer) {
  ask();
  proxy_.deliver("HTTP/1.1 200 OK\r\n");
  proxy_.close();
  ask();
  proxy_.close("Connection reset by peer");
  EXPECT_THAT(
      done(),
      ElementsAre("closed: the proxy 127.0.0.1:3128 closed the connection without an answer",
                  "closed: the proxy 127.0.0.1:3128 closed the connection without an answer: "
                  "Connection reset by peer"));
}

TEST_F(ProxyTunnelTest, DoesNotWaitForEver) {
  make(Milliseconds{1});
  proxy_.open();
  stops_at_end_ = true;
  boost::asio::steady_timer limit(loop_.io(), testing::kPatience);
  limit.async_wait([this](boost::system::error_code error) {
    if (!error) loop_.stop();
  });
  loop_.run();
  EXPECT_THAT(done(), ElementsAre("closed: the proxy 127.0.0.1:3128 does not answer"));
  EXPECT_FALSE(proxy_.is_in_use());
}

TEST_F(ProxyTunnelTest, PassesTheReasonOfTheEnd) {
  open();
  proxy_.close("Connection reset by peer");
  EXPECT_THAT(done(), ElementsAre("closed: Connection reset by peer"));
}

TEST_F(ProxyTunnelTest, KeepsWhatComesWithTheAnswerDuringAPause) {
  ask();
  tunnel_->set_paused(true);
  EXPECT_FALSE(proxy_.is_paused());
  proxy_.deliver("HTTP/1.1 200 OK\r\n\r\nab");
  EXPECT_TRUE(proxy_.is_paused());
  EXPECT_THAT(done(), ElementsAre("opened"));
  EXPECT_FALSE(tunnel_->is_quiet());
  tunnel_->set_paused(false);
  EXPECT_THAT(done(), IsEmpty());
  proxy_.deliver("cd");
  run_what_is_due();
  EXPECT_THAT(done(), ElementsAre("bytes abcd"));
  EXPECT_TRUE(tunnel_->is_quiet());
}

TEST_F(ProxyTunnelTest, PassesWhatItKeepsBeforeTheEnd) {
  ask();
  tunnel_->set_paused(true);
  proxy_.deliver("HTTP/1.1 200 OK\r\n\r\nab");
  proxy_.close();
  EXPECT_THAT(done(), ElementsAre("opened"));
  EXPECT_FALSE(tunnel_->is_quiet());
  tunnel_->write("lost");
  tunnel_->set_paused(false);
  run_what_is_due();
  EXPECT_THAT(done(), ElementsAre("bytes ab", "closed: "));
}

TEST_F(ProxyTunnelTest, IsAsQuietAsTheConnectionToTheProxy) {
  ask();
  EXPECT_FALSE(tunnel_->is_quiet());
  proxy_.deliver("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_TRUE(tunnel_->is_quiet());
  proxy_.set_quiet(false);
  EXPECT_FALSE(tunnel_->is_quiet());
}

TEST_F(ProxyTunnelTest, HandsOutUndeliveredBytes) {
  ask();
  EXPECT_EQ(tunnel_->take_arrived(), "");
  tunnel_->set_paused(true);
  proxy_.deliver("HTTP/1.1 200 OK\r\n\r\nab");
  proxy_.arrive("cd");
  EXPECT_EQ(tunnel_->take_arrived(), "abcd");
  EXPECT_EQ(tunnel_->take_arrived(), "");
  EXPECT_TRUE(tunnel_->is_quiet());
}

TEST_F(ProxyTunnelTest, MayBeDestroyedWithinEachEvent) {
  for (const std::string event : {"opened", "bytes ab", "closed: "}) {
    ask();
    drops_at_ = event;
    proxy_.deliver("HTTP/1.1 200 OK\r\n\r\nab");
    proxy_.close();
    EXPECT_EQ(tunnel_, nullptr);
    EXPECT_FALSE(proxy_.is_in_use());
    EXPECT_EQ(done().back(), event);
  }
}

}  // namespace
}  // namespace sitter
