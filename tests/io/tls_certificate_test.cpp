#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/http/certificate_words.hpp"
#include "support/tls_script.hpp"

/// Which certificates a client accepts, and what it says about the others.
namespace sitter {
namespace {

using testing::CertificateRequest;
using ::testing::ElementsAre;
using testing::Identity;
using ::testing::IsEmpty;
using testing::issued_by;
using testing::self_signed;
using testing::TlsPeer;

class TlsCertificateTest : public TlsStreamTest {
 protected:
  /// What a client of this host says about this certificate.
  std::vector<std::string> verdict(const CertificateRequest& request,
                                   const std::string& host = "localhost") {
    serve(request);
    make(host);
    shake_hands();
    return done();
  }
};

TEST_F(TlsCertificateTest, AcceptsACertificateForTheHost) {
  EXPECT_THAT(verdict({.names = {"DNS:other.example", "DNS:localhost"}}), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"DNS:*.example.com"}}, "www.example.com"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"IP:127.0.0.1"}}, "127.0.0.1"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"IP:::1"}}, "::1"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"IP:fe80::1"}}, "fe80::1%eth0"), ElementsAre("opened"));
  EXPECT_THAT(verdict({.names = {"DNS:example.com"}}, "example.com."), ElementsAre("opened"));
  EXPECT_THAT(verdict({.common_name = "localhost"}), ElementsAre("opened"));
}

TEST_F(TlsCertificateTest, NamesTheServerButNotByAnAddress) {
  verdict({.names = {"DNS:example.com"}}, "example.com.");
  EXPECT_EQ(peer_->host_name(), "example.com");
  verdict({.names = {"IP:127.0.0.1"}}, "127.0.0.1");
  EXPECT_EQ(peer_->host_name(), "");
  verdict({.names = {"IP:::1"}}, "::1");
  EXPECT_EQ(peer_->host_name(), "");
}

TEST_F(TlsCertificateTest, SaysForWhichHostTheCertificateIs) {
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

TEST_F(TlsCertificateTest, ShowsNoControlCharactersOfACertificate) {
  EXPECT_THAT(verdict({.common_name = "a\x1b[31mb\nc"}),
              ElementsAre("closed: the certificate is for ab c, not for localhost"));
}

TEST_F(TlsCertificateTest, ShowsOnlyTheBeginningOfALongName) {
  const std::string label(50, 'x');
  const std::string name = label + "." + label + "." + label + "." + label + ".";
  const std::string fits = name + std::string(limits::kPeerTextMax - name.size(), 'y');
  EXPECT_THAT(verdict({.names = {"DNS:" + fits}}),
              ElementsAre("closed: the certificate is for " + fits + ", not for localhost"));
  EXPECT_THAT(
      verdict({.names = {"DNS:" + fits + "z"}}),
      ElementsAre("closed: the certificate is for " + fits + "… [1 byte cut], not for localhost"));
}

TEST_F(TlsCertificateTest, SaysWhenTheCertificateHasExpired) {
  EXPECT_THAT(verdict({.names = {"DNS:localhost"},
                       .not_before = "20250102000000Z",
                       .not_after = "20260102235959Z"}),
              ElementsAre("closed: the certificate has expired (on 2026-01-02)"));
  EXPECT_THAT(verdict({.names = {"DNS:localhost"},
                       .not_before = "22000102000000Z",
                       .not_after = "22010102000000Z"}),
              ElementsAre("closed: the certificate is not valid before 2200-01-02"));
}

TEST_F(TlsCertificateTest, SaysWhenTheCaHasExpired) {
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

TEST_F(TlsCertificateTest, SaysThatACertificateIsNotTrusted) {
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

TEST_F(TlsCertificateTest, TrustsTheCertificateThatTheUserNames) {
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

TEST_F(TlsCertificateTest, ClosesAtOnceIfItCannotKnowWhatIsTrusted) {
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

TEST_F(TlsCertificateTest, RefusesAHostThatItCannotVerify) {
  for (const std::string& host : {std::string(), std::string("."), std::string(256, 'x')}) {
    make(host);
    run_what_is_due();
    EXPECT_THAT(done(), ElementsAre("closed: TLS can't be used with this host name"));
  }
}

}  // namespace
}  // namespace sitter
