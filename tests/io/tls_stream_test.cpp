#include "io/http/tls_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/http/proxy_tunnel.hpp"
#include "sitter/http_limits.hpp"
#include "support/certificates.hpp"
#include "support/memory_stream.hpp"
#include "support/processes.hpp"
#include "support/temporary_directory.hpp"
#include "support/tls_peer.hpp"

namespace sitter {
namespace {

using testing::CertificateRequest;
using ::testing::ElementsAre;
using testing::Identity;
using ::testing::IsEmpty;
using testing::issued_by;
using testing::self_signed;
using ::testing::StartsWith;
using testing::TlsPeer;

constexpr std::size_t kWhole = static_cast<std::size_t>(-1);

/// Joins the flights of a peer. A sum of calls would have no order.
std::string all(std::initializer_list<std::string> flights) {
  std::string joined;
  for (const std::string& flight : flights) joined += flight;
  return joined;
}

/// A client that trusts one CA, and a server with a certificate of this CA for localhost.
class TlsStreamTest : public ::testing::Test {
 protected:
  TlsStreamTest()
      : authority_(self_signed({.common_name = "test CA", .is_authority = true})),
        cacert_(folder_.write("ca.pem", authority_.pem())),
        context_({cacert_, nullptr, {}}) {}

  CertificateRequest for_localhost() const { return {.names = {"DNS:localhost"}}; }

  void serve(const CertificateRequest& request, TlsPeer::Options options = {}) {
    peer_ = std::make_unique<TlsPeer>(issued_by(authority_, request), std::move(options));
  }
  void make(const std::string& host = "localhost", Milliseconds wait = limits::kTlsHandshakeWait) {
    make(context_, host, wait);
  }
  void make(TlsContext& context, const std::string& host,
            Milliseconds wait = limits::kTlsHandshakeWait) {
    stream_.reset();
    stream_ = std::make_unique<TlsStream>(loop_, context, TlsStream::Options{host, wait},
                                          network_.near(), events());
  }
  ByteStream::Events events() {
    return {[this] { happens("opened"); },
            [this](std::string_view bytes) {
              received_ += bytes;
              happens("bytes " + std::string(bytes.substr(0, 20)));
              if (pauses_at_bytes_) stream_->set_paused(true);
            },
            [this](std::string reason) {
              happens("closed: " + reason);
              if (stops_at_end_) loop_.stop();
            }};
  }
  void happens(const std::string& event) {
    events_.push_back(event);
    if (event == drops_at_) stream_.reset();
  }
  std::vector<std::string> done() { return std::exchange(events_, {}); }

  /// Carries bytes between both sides until both are silent.
  void flow(std::size_t piece = kWhole) {
    while (true) {
      const std::string sent = network_.take_written();
      const std::string answer = carry(sent, piece);
      deliver(answer, piece);
      if (sent.empty() && answer.empty()) return;
    }
  }
  std::string carry(std::string_view bytes, std::size_t piece) {
    std::string answer;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      answer += peer_->receive(bytes.substr(0, piece));
    }
    return answer;
  }
  void deliver(std::string_view bytes, std::size_t piece = kWhole) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      network_.deliver(bytes.substr(0, piece));
    }
  }
  void run_what_is_due() {
    loop_.io().restart();
    loop_.post([this] { loop_.post([this] { loop_.stop(); }); });
    loop_.run();
  }
  void shake_hands(std::size_t piece = kWhole) {
    network_.open();
    flow(piece);
  }
  void open(TlsPeer::Options options = {}) {
    serve(for_localhost(), std::move(options));
    make();
    shake_hands();
    EXPECT_THAT(done(), ElementsAre("opened"));
  }
  /// What a client of this host says about this certificate.
  std::vector<std::string> verdict(const CertificateRequest& request,
                                   const std::string& host = "localhost") {
    serve(request);
    make(host);
    shake_hands();
    return done();
  }

  EventLoop loop_;
  testing::TemporaryDirectory folder_;
  Identity authority_;
  std::string cacert_;
  TlsContext context_;
  testing::MemoryConnection network_;
  std::unique_ptr<TlsPeer> peer_;
  std::unique_ptr<TlsStream> stream_;
  std::vector<std::string> events_;
  std::string received_;
  /// The owner destroys the stream within this event.
  std::string drops_at_;
  bool stops_at_end_ = false;
  bool pauses_at_bytes_ = false;
};

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

TEST_F(TlsStreamTest, AcceptsACertificateForTheHost) {
  EXPECT_THAT(verdict({.names = {"DNS:other.example", "DNS:localhost"}}), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"DNS:*.example.com"}}, "www.example.com"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"IP:127.0.0.1"}}, "127.0.0.1"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"IP:::1"}}, "::1"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"IP:fe80::1"}}, "fe80::1%eth0"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"DNS:example.com"}}, "example.com."), ElementsAre("opened"));
  EXPECT_THAT(verdict({.common_name = "localhost"}), ElementsAre("opened"));
}

TEST_F(TlsStreamTest, NamesTheServerButNotByAnAddress) {
  verdict({.names = {"DNS:example.com"}}, "example.com.");
  EXPECT_EQ(peer_->host_name(), "example.com");
  verdict({.names = {"IP:127.0.0.1"}}, "127.0.0.1");
  EXPECT_EQ(peer_->host_name(), "");
  verdict({.names = {"IP:::1"}}, "::1");
  EXPECT_EQ(peer_->host_name(), "");
}

TEST_F(TlsStreamTest, SaysForWhichHostTheCertificateIs) {
  EXPECT_THAT(verdict({.names = {"DNS:other.example"}}),
              ElementsAre("closed: the certificate is for other.example, not for localhost"));
  EXPECT_THAT(verdict({.names = {"DNS:localhost", "IP:127.0.0.1"}}, "::1"),
              ElementsAre("closed: the certificate is for localhost, 127.0.0.1, not for ::1"));
  EXPECT_THAT(verdict({.names = {"DNS:localhost"}}, "127.0.0.1"),
              ElementsAre("closed: the certificate is for localhost, not for 127.0.0.1"));
  EXPECT_THAT(verdict({.names = {"DNS:a", "DNS:b", "IP:::1"}}),
              ElementsAre("closed: the certificate is for a, b, ::1, not for localhost"));
  EXPECT_THAT(verdict({.names = {"DNS:a", "DNS:b", "DNS:c", "DNS:d", "DNS:e"}}),
              ElementsAre("closed: the certificate is for a, b, c and 2 more, not for localhost"));
  EXPECT_THAT(verdict({.common_name = "other"}),
              ElementsAre("closed: the certificate is for other, not for localhost"));
  EXPECT_THAT(verdict({.common_name = "", .names = {"email:me@example.com"}}),
              ElementsAre("closed: the certificate names no host, but it must name localhost"));
  EXPECT_THAT(verdict({.names = {"DNS:*.example.com"}}, "a.b.example.com"),
              ElementsAre("closed: the certificate is for *.example.com, not for a.b.example.com"));
}

TEST_F(TlsStreamTest, ShowsNoControlCharactersOfACertificate) {
  EXPECT_THAT(verdict({.common_name = "a\x1b[31mb\nc"}),
              ElementsAre("closed: the certificate is for ab c, not for localhost"));
}

TEST_F(TlsStreamTest, ShowsOnlyTheBeginningOfALongName) {
  const std::string label(50, 'x');
  const std::string name = label + "." + label + "." + label + "." + label + ".";
  const std::string fits = name + std::string(limits::kPeerTextMax - name.size(), 'y');
  EXPECT_THAT(verdict({.names = {"DNS:" + fits}}),
              ElementsAre("closed: the certificate is for " + fits + ", not for localhost"));
  EXPECT_THAT(
      verdict({.names = {"DNS:" + fits + "z"}}),
      ElementsAre("closed: the certificate is for " + fits + "… [1 bytes cut], not for localhost"));
}

TEST_F(TlsStreamTest, SaysWhenTheCertificateHasExpired) {
  EXPECT_THAT(verdict({.names = {"DNS:localhost"},
                       .not_before = "20250102000000Z",
                       .not_after = "20260102235959Z"}),
              ElementsAre("closed: the certificate has expired (on 2026-01-02)"));
  EXPECT_THAT(verdict({.names = {"DNS:localhost"},
                       .not_before = "22000102000000Z",
                       .not_after = "22010102000000Z"}),
              ElementsAre("closed: the certificate is not valid before 2200-01-02"));
}

TEST_F(TlsStreamTest, SaysWhenTheCaHasExpired) {
  authority_ = self_signed({.common_name = "old CA",
                            .is_authority = true,
                            .not_before = "20250102000000Z",
                            .not_after = "20260102235959Z"});
  TlsContext context({folder_.write("old.pem", authority_.pem()), nullptr, {}});
  serve(for_localhost());
  make(context, "localhost");
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("closed: the certificate of its CA has expired (on 2026-01-02)"));
}

TEST_F(TlsStreamTest, SaysThatACertificateIsNotTrusted) {
  const CertificateRequest request{.names = {"IP:127.0.0.1"}};
  const Identity own = self_signed(request);
  const std::string bundle = folder_.write("bundle.pem", authority_.pem());
  TlsContext of_system({"", nullptr, {bundle}});
  peer_ = std::make_unique<TlsPeer>(own, TlsPeer::Options{});
  make(of_system, "127.0.0.1");
  shake_hands();
  EXPECT_THAT(done(),
              ElementsAre("closed: the certificate of 127.0.0.1 is not trusted: self-signed "
                          "certificate (name its CA with --cacert)"));
  EXPECT_EQ(peer_->alert(), "unknown CA");

  peer_ = std::make_unique<TlsPeer>(own, TlsPeer::Options{});
  make("127.0.0.1");
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("closed: the certificate of 127.0.0.1 is not trusted: "
                                  "self-signed certificate (its CA is not in " +
                                  cacert_ + ")"));

  const Identity other = self_signed({.common_name = "other CA", .is_authority = true});
  peer_ = std::make_unique<TlsPeer>(issued_by(other, request), TlsPeer::Options{});
  make(of_system, "127.0.0.1");
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("closed: the certificate of 127.0.0.1 is not trusted: unable to "
                                  "get local issuer certificate (name its CA with --cacert)"));
}

TEST_F(TlsStreamTest, TrustsTheCertificateThatTheUserNames) {
  const Identity own = self_signed(for_localhost());
  TlsContext self(TlsContext::Options{folder_.write("own.pem", own.pem()), nullptr, {}});
  peer_ = std::make_unique<TlsPeer>(own, TlsPeer::Options{});
  make(self, "localhost");
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("opened"));

  // This one is signed by a CA that the client does not know.
  const Identity issued = issued_by(authority_, for_localhost());
  TlsContext leaf(TlsContext::Options{folder_.write("leaf.pem", issued.pem()), nullptr, {}});
  peer_ = std::make_unique<TlsPeer>(issued, TlsPeer::Options{});
  make(leaf, "localhost");
  shake_hands();
  EXPECT_THAT(done(), ElementsAre("opened"));
}

TEST_F(TlsStreamTest, ClosesAtOnceIfItCannotKnowWhatIsTrusted) {
  TlsContext context({folder_ / "missing.pem", nullptr, {}});
  make(context, "localhost");
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_FALSE(network_.is_in_use());
  EXPECT_EQ(stream_->queued(), 0U);
  EXPECT_FALSE(stream_->is_quiet());
  run_what_is_due();
  EXPECT_THAT(done(), ElementsAre("closed: --cacert " + folder_ / "missing.pem" +
                                  " can't be read: No such file or directory"));
  make(context, "localhost");
  stream_.reset();
  run_what_is_due();
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(TlsStreamTest, RefusesAHostThatItCannotVerify) {
  for (const std::string& host : {std::string(), std::string("."), std::string(256, 'x')}) {
    make(host);
    run_what_is_due();
    EXPECT_THAT(done(), ElementsAre("closed: TLS can't be used with this host name"));
  }
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

TEST_F(TlsStreamTest, TellsACutFromAnEnd) {
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
