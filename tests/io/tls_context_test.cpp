#include "io/http/tls_context.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>

#include <map>
#include <string>

#include "support/certificates.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using testing::Identity;
using testing::self_signed;

class TlsContextTest : public ::testing::Test {
 protected:
  /// How many certificates are trusted, or why there are none.
  std::string loads(const std::string& cacert = "") {
    TlsContext context({cacert, environment(), bundles_});
    return loaded(context);
  }
  static std::string loaded(TlsContext& context) {
    std::string error;
    SSL_CTX* const made = context.get(error);
    if (made == nullptr) return error;
    EXPECT_EQ(error, "");
    const X509_STORE* const store = SSL_CTX_get_cert_store(made);
    return std::to_string(sk_X509_OBJECT_num(X509_STORE_get0_objects(store)));
  }
  Environment environment() {
    return [this](const char* name) -> const char* {
      const auto found = variables_.find(name);
      return found == variables_.end() ? nullptr : found->second.c_str();
    };
  }
  std::string file(const std::string& name, int count) const {
    std::string text;
    for (int i = 0; i < count; ++i) text += "a comment\n" + self_signed({}).pem();
    return folder_.write(name, text);
  }

  testing::TemporaryDirectory folder_;
  std::map<std::string, std::string> variables_;
  std::vector<std::string> bundles_;
};

TEST_F(TlsContextTest, TrustsOnlyTheFileOfTheUser) {
  variables_["SSL_CERT_FILE"] = file("variable.pem", 2);
  bundles_ = {file("bundle.pem", 3)};
  EXPECT_EQ(loads(file("own.pem", 1)), "1");
}

TEST_F(TlsContextTest, TrustsTheFileOfTheVariableBeforeThatOfTheSystem) {
  variables_["SSL_CERT_FILE"] = file("variable.pem", 2);
  bundles_ = {file("bundle.pem", 3)};
  EXPECT_EQ(loads(), "2");
  variables_["SSL_CERT_FILE"] = "";
  EXPECT_EQ(loads(), "3");
}

TEST_F(TlsContextTest, TrustsTheFirstBundleThatExists) {
  bundles_ = {folder_ / "missing.pem", folder_ / "missing/bundle.pem", file("first.pem", 2),
              file("second.pem", 3)};
  EXPECT_EQ(loads(), "2");
}

TEST_F(TlsContextTest, TrustsTheFoldersOfTheVariable) {
  bundles_ = {file("bundle.pem", 3)};
  variables_["SSL_CERT_DIR"] = folder_ / "missing" + ":" + folder_.path();
  EXPECT_EQ(loads(), "0");  // they are looked into when a certificate is needed
  variables_["SSL_CERT_FILE"] = file("variable.pem", 2);
  EXPECT_EQ(loads(), "2");
  variables_["SSL_CERT_DIR"] = folder_ / "missing";
  EXPECT_EQ(loads(), "SSL_CERT_DIR " + folder_ / "missing" + " is not a folder");
}

TEST_F(TlsContextTest, SaysWhichFileIsMissing) {
  const std::string missing = folder_ / "missing.pem";
  EXPECT_EQ(loads(missing), "--cacert " + missing + " can't be read: No such file or directory");
  variables_["SSL_CERT_FILE"] = missing;
  EXPECT_EQ(loads(), "SSL_CERT_FILE " + missing + " can't be read: No such file or directory");
}

TEST_F(TlsContextTest, SaysThatNoBundleExists) {
  bundles_ = {folder_ / "missing.pem"};
  EXPECT_EQ(loads(), "this system has no file of trusted certificates (name one with --cacert)");
}

TEST_F(TlsContextTest, RefusesWhatIsNoFileOfCertificates) {
  const std::string problem = " holds no certificate in PEM form";
  for (const std::string& text :
       {std::string(), std::string("garbage\n"), std::string(1000, '\0'),
        std::string("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        std::string("-----BEGIN CERTIFICATE-----\n"),
        std::string("-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
                    "AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n"
                    "-----END CERTIFICATE-----\n"),
        std::string("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")}) {
    const std::string garbage = folder_.write("garbage.pem", text);
    EXPECT_EQ(loads(garbage), "--cacert " + garbage + problem);
    bundles_ = {garbage};
    EXPECT_EQ(loads(), garbage + problem);
  }
}

TEST_F(TlsContextTest, SkipsADamagedCertificateBetweenOthers) {
  std::string damaged = self_signed({}).pem();
  damaged.replace(100, 4, "####");
  const std::string good = self_signed({}).pem();
  EXPECT_EQ(loads(folder_.write("mixed.pem", good + damaged + self_signed({}).pem())), "2");
}

TEST_F(TlsContextTest, DoesNotWaitForAPipe) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(loads(fifo), "--cacert " + fifo + " is not a file");
  EXPECT_EQ(loads(folder_.path()), "--cacert " + folder_.path() + " is not a file");
}

TEST_F(TlsContextTest, TheFileHasABound) {
  const std::string pem = self_signed({}).pem();
  const std::string filler(limits::kTrustBytesMax - pem.size() - 1, 'x');
  EXPECT_EQ(loads(folder_.write("full.pem", filler + "\n" + pem)), "1");
  const std::string above = folder_.write("above.pem", filler + "x\n" + pem);
  EXPECT_EQ(loads(above), "--cacert " + above + " is too large");
  EXPECT_EQ(loads("/dev/zero"), "--cacert /dev/zero is too large");
}

TEST_F(TlsContextTest, LoadsOnceAndOnlyWhenAsked) {
  const std::string path = file("own.pem", 1);
  TlsContext context({folder_ / "later.pem", environment(), {}});
  EXPECT_NE(loaded(context), "1");
  file("later.pem", 1);
  EXPECT_EQ(loaded(context), "1");
  folder_.write("later.pem", "garbage");
  EXPECT_EQ(loaded(context), "1");
}

TEST_F(TlsContextTest, KnowsWhereTheSystemsKeepTheirBundles) {
  // The container of a test may have none, but must not have one that cannot be read.
  TlsContext context({"", environment()});
  const std::string result = loaded(context);
  EXPECT_TRUE(result ==
                  "this system has no file of trusted certificates (name one with --cacert)" ||
              std::atoi(result.c_str()) > 0)
      << result;
}

}  // namespace
}  // namespace sitter
