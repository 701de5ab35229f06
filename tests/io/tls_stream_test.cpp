#include "io/http/tls_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "io/http/proxy_tunnel.hpp"
#include "sitter/bytes.hpp"
#include "support/processes.hpp"
#include "support/tls_script.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Joins the flights of a peer. A sum of calls would have no order.
std::string all(std::initializer_list<std::string> flights) {
  std::string joined;
  for (const std::string& flight : flights) joined += flight;
  return joined;
}

TEST_F(TlsStreamTest, CarriesBytesBothWays) {
  open();
  EXPECT_EQ(peer_->version(), TLS1_3_VERSION);
  EXPECT_EQ(peer_->host_name(), "localhost");
  stream_->write("hello");
  flow();
  EXPECT_EQ(peer_->received(), "hello");
  deliver(peer_->send("world"));
  EXPECT_THAT(done(), ElementsAre("bytes world"));
  deliver(peer_->close());
  EXPECT_THAT(done(), ElementsAre("closed: "));
  EXPECT_FALSE(network_.is_in_use());
  carry(network_.take_written(), kWhole);
  EXPECT_TRUE(peer_->is_closed());
}

TEST_F(TlsStreamTest, WorksWhereverTheBytesAreCut) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const std::size_t piece : {1, 2, 3, 4, 5, 6, 7, 11, 64, 100, 1000}) {
      serve(for_localhost(), {.version = version});
      make();
      shake_hands(piece);
      stream_->write("hello");
      flow(piece);
      deliver(all({peer_->send("world"), peer_->close()}), piece);
      EXPECT_EQ(peer_->received(), "hello");
      EXPECT_THAT(done(), ElementsAre("opened", "bytes world", "closed: "))
          << version << " in pieces of " << piece;
    }
  }
}

TEST_F(TlsStreamTest, CarriesLargeBodies) {
  constexpr std::size_t kSize = 5 * limits::kMiB + 1;
  std::string body(kSize, '\0');
  for (std::size_t i = 0; i < kSize; ++i) body[i] = static_cast<char>(i * 2654435761U >> 13);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    open({.version = version});
    stream_->write(body);
    flow(100'000);
    EXPECT_TRUE(peer_->received() == body);
    received_.clear();
    deliver(peer_->send(body), 100'000);
    EXPECT_TRUE(received_ == body);
    done();
  }
}

TEST_F(TlsStreamTest, SendsASmallMessageWithOneWrite) {
  open();
  const int writes = network_.writes();
  stream_->write(std::string(10'000, 'x'));
  EXPECT_EQ(network_.writes(), writes + 1);
  network_.set_queued(7);
  EXPECT_EQ(stream_->queued(), 7U);
}

TEST_F(TlsStreamTest, AcceptsTls12AndNothingOlder) {
  open({.version = TLS1_2_VERSION});
  EXPECT_EQ(peer_->version(), TLS1_2_VERSION);
  serve(for_localhost(), {.version = TLS1_1_VERSION});
  make();
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("closed: it does not speak TLS 1.2 or newer"));
}

TEST_F(TlsStreamTest, OffersHttp11) {
  open({.protocol = "http/1.1"});
  EXPECT_EQ(peer_->protocol(), "http/1.1");
  serve(for_localhost(), {.protocol = "h2"});
  make();
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("closed: it refused the TLS handshake: no application protocol"));
}

TEST_F(TlsStreamTest, SaysThatTheServerDoesNotSpeakTls) {
  for (const std::string bytes :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "H", "\n"}) {
    make();
    network_.open();
    network_.deliver(bytes);
    EXPECT_THAT(done(), ElementsAre("closed: it does not speak TLS")) << bytes;
    EXPECT_FALSE(network_.is_in_use());
  }
}

TEST_F(TlsStreamTest, SaysThatTheHandshakeIsRubbish) {
  make();
  network_.open();
  network_.deliver(std::string("\x16\x03\x03\x00\x04") + "aaaa");
  EXPECT_THAT(done(), ElementsAre(StartsWith("closed: the TLS handshake failed: ")));
}

TEST_F(TlsStreamTest, SaysThatTheServerRefuses) {
  make();
  network_.open();
  network_.deliver(std::string("\x15\x03\x03\x00\x02\x02\x28", 7));
  EXPECT_THAT(done(), ElementsAre("closed: it refused the TLS handshake: handshake failure"));
}

TEST_F(TlsStreamTest, SaysThatTheServerWantsACertificate) {
  serve(for_localhost(), {.asks_for_certificate = true});
  make();
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("opened",
                                  "closed: it asks for a certificate of the client, and there "
                                  "is none"));
  serve(for_localhost(), {.version = TLS1_2_VERSION, .asks_for_certificate = true});
  make();
  shake_hands();
  EXPECT_THAT(done(), ElementsAre(StartsWith("closed: it refused the TLS handshake: ")));
}

TEST_F(TlsStreamTest, SaysThatTheServerEndsTheHandshake) {
  make();
  network_.close("nothing listens on 127.0.0.1:3001");
  EXPECT_THAT(done(), ElementsAre("closed: nothing listens on 127.0.0.1:3001"));
  make();
  network_.open();
  network_.close();
  EXPECT_THAT(done(), ElementsAre("closed: it closed the connection during the TLS handshake"));
  make();
  network_.open();
  network_.close("Connection reset by peer");
  EXPECT_THAT(done(), ElementsAre("closed: Connection reset by peer"));
}

TEST_F(TlsStreamTest, DoesNotWaitForEver) {
  make("localhost", Milliseconds{1});
  network_.open();
  stops_at_end_ = true;
  boost::asio::steady_timer limit(loop_.io(), testing::kPatience);
  limit.async_wait([this](boost::system::error_code error) {
    if (!error) loop_.stop();
  });
  loop_.run();
  EXPECT_THAT(done(), ElementsAre("closed: it does not answer the TLS handshake"));
  EXPECT_FALSE(network_.is_in_use());
}

TEST_F(TlsStreamTest, DistinguishesATruncationFromAnEnd) {
  const std::string cut = "closed: the connection ended without the close of TLS";
  open();
  network_.close();
  EXPECT_THAT(done(), ElementsAre(cut));
  open();
  network_.close("Connection reset by peer");
  EXPECT_THAT(done(), ElementsAre("closed: Connection reset by peer"));
  open();
  const std::string record = peer_->send("hello");
  network_.deliver(record.substr(0, record.size() - 1));
  network_.close();
  EXPECT_THAT(done(), ElementsAre(cut));
  open();
  deliver(peer_->send("hello"));
  network_.close();
  EXPECT_THAT(done(), ElementsAre("bytes hello", cut));
}

TEST_F(TlsStreamTest, SaysThatARecordWasChanged) {
  open();
  std::string record = peer_->send("hello");
  record.back() = static_cast<char>(record.back() ^ 1);
  network_.deliver(record);
  EXPECT_THAT(done(), ElementsAre(StartsWith("closed: the TLS connection broke: ")));
  carry(network_.take_written(), kWhole);
  EXPECT_EQ(peer_->alert(), "bad record mac");
}

TEST_F(TlsStreamTest, DoesNotRenegotiate) {
  open({.version = TLS1_2_VERSION});
  deliver(peer_->renegotiate());
  carry(network_.take_written(), kWhole);
  EXPECT_EQ(peer_->alert(), "no renegotiation");
}

TEST_F(TlsStreamTest, TicketsAndNewKeysAreNoBytes) {
  open();
  EXPECT_TRUE(stream_->is_quiet());
  for (const std::string& message : {peer_->send_ticket(), peer_->update_keys()}) {
    ASSERT_NE(message, "");
    network_.deliver(message.substr(0, 10));
    EXPECT_FALSE(stream_->is_quiet());  // this may become anything
    network_.deliver(message.substr(10));
    EXPECT_TRUE(stream_->is_quiet());
  }
  EXPECT_THAT(done(), IsEmpty());
  flow();
  stream_->write("hello");
  flow();
  EXPECT_EQ(peer_->received(), "hello");
  deliver(peer_->send("world"));
  EXPECT_THAT(done(), ElementsAre("bytes world"));
}

TEST_F(TlsStreamTest, IsNotQuietWhenTheConnectionIsNot) {
  serve(for_localhost());
  make();
  EXPECT_FALSE(stream_->is_quiet());
  network_.open();
  EXPECT_FALSE(stream_->is_quiet());
  flow();
  EXPECT_TRUE(stream_->is_quiet());
  network_.set_quiet(false);
  EXPECT_FALSE(stream_->is_quiet());
  network_.set_quiet(true);
  deliver(peer_->close());
  EXPECT_FALSE(stream_->is_quiet());
}

TEST_F(TlsStreamTest, TellsBytesFromTicketsDuringAPause) {
  open();
  pauses_at_bytes_ = true;
  deliver(all({peer_->send("first"), peer_->send_ticket()}));
  EXPECT_THAT(done(), ElementsAre("bytes first"));
  EXPECT_TRUE(network_.is_paused());
  EXPECT_TRUE(stream_->is_quiet());
  stream_->set_paused(false);
  deliver(all({peer_->send("second"), peer_->send_ticket(), peer_->send("third")}));
  EXPECT_THAT(done(), ElementsAre("bytes second"));
  EXPECT_FALSE(stream_->is_quiet());
}

TEST_F(TlsStreamTest, TellsBytesFromTicketsThatWereNotDeliveredYet) {
  open();
  network_.arrive(all({peer_->send_ticket(), peer_->send_ticket()}));
  EXPECT_TRUE(stream_->is_quiet());
  run_what_is_due();
  EXPECT_THAT(done(), IsEmpty());
  network_.arrive(all({peer_->send_ticket(), peer_->send("hello")}));
  EXPECT_FALSE(stream_->is_quiet());
  EXPECT_THAT(done(), IsEmpty());
  deliver(peer_->send("world"));
  run_what_is_due();
  EXPECT_THAT(done(), ElementsAre("bytes hello", "bytes world"));
  network_.arrive(peer_->close());
  EXPECT_FALSE(stream_->is_quiet());
  run_what_is_due();
  EXPECT_THAT(done(), ElementsAre("closed: "));
}

TEST_F(TlsStreamTest, PausesBetweenRecords) {
  open();
  pauses_at_bytes_ = true;
  deliver(all({peer_->send("first"), peer_->send("second"), peer_->send("third")}));
  EXPECT_THAT(done(), ElementsAre("bytes first"));
  EXPECT_TRUE(network_.is_paused());
  stream_->set_paused(false);
  EXPECT_FALSE(network_.is_paused());
  EXPECT_THAT(done(), IsEmpty());
  run_what_is_due();
  EXPECT_THAT(done(), ElementsAre("bytes second"));
  pauses_at_bytes_ = false;
  stream_->set_paused(false);
  run_what_is_due();
  EXPECT_THAT(done(), ElementsAre("bytes third"));
}

TEST_F(TlsStreamTest, PassesWhatHasComeBeforeTheEnd) {
  for (const bool is_orderly : {true, false}) {
    open();
    pauses_at_bytes_ = true;
    deliver(all({peer_->send("first"), peer_->send("second"), is_orderly ? peer_->close() : ""}));
    network_.close("Connection reset by peer");
    EXPECT_THAT(done(), ElementsAre("bytes first"));
    EXPECT_FALSE(stream_->is_quiet());
    stream_->write("lost");
    pauses_at_bytes_ = false;
    stream_->set_paused(false);
    run_what_is_due();
    EXPECT_THAT(done(), ElementsAre("bytes second",
                                    is_orderly ? "closed: " : "closed: Connection reset by peer"));
  }
}

TEST_F(TlsStreamTest, ShakesHandsDuringAPause) {
  serve(for_localhost());
  make();
  stream_->set_paused(true);
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("opened"));
  EXPECT_TRUE(network_.is_paused());
  deliver(peer_->send("hello"));
  stream_->set_paused(false);
  network_.deliver();
  EXPECT_THAT(done(), ElementsAre("bytes hello"));
}

TEST_F(TlsStreamTest, MayBeDestroyedWithinEachEvent) {
  for (const std::string event : {"opened", "bytes first", "closed: "}) {
    drops_at_ = event;
    serve(for_localhost());
    make();
    network_.open();
    flow();
    deliver(all({peer_->send("first"), peer_->send("second"), peer_->close()}));
    EXPECT_EQ(stream_, nullptr);
    EXPECT_FALSE(network_.is_in_use());
    EXPECT_EQ(done().back(), event);
  }
}

TEST_F(TlsStreamTest, SaysGoodbyeWhenItIsDestroyed) {
  open();
  stream_.reset();
  carry(network_.take_written(), kWhole);
  EXPECT_TRUE(peer_->is_closed());
}

TEST_F(TlsStreamTest, OutlastsItsContext) {
  auto context = std::make_unique<TlsContext>(TlsContext::Options{cacert_, nullptr, {}});
  serve(for_localhost());
  make(*context, "localhost");
  context.reset();
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("opened"));
}

TEST_F(TlsStreamTest, GoesThroughATunnel) {
  serve(for_localhost());
  const auto tunnel = [this](ByteStream::Events events) {
    return std::make_unique<ProxyTunnel>(
        loop_, ProxyTunnel::Options{{"proxy", 3128, ""}, {true, "localhost", 443, "/"}},
        network_.near(), std::move(events));
  };
  stream_ = std::make_unique<TlsStream>(loop_, context_, TlsStream::Options{"localhost"}, tunnel,
                                        events());
  network_.open();
  EXPECT_THAT(network_.take_written(), StartsWith("CONNECT localhost:443 HTTP/1.1\r\n"));
  network_.deliver("HTTP/1.1 200 OK\r\n\r\n");
  flow(7);
  stream_->write("hello");
  flow(7);
  deliver(all({peer_->send("world"), peer_->close()}), 7);
  EXPECT_EQ(peer_->received(), "hello");
  EXPECT_THAT(done(), ElementsAre("opened", "bytes world", "closed: "));
}

}  // namespace
}  // namespace sitter
