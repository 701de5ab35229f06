#include "core/http/secrets.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

using Headers = std::vector<HttpHeader>;

TEST(Secrets, AreTheValueAndItsWordsButForTheScheme) {
  const Secrets secrets(Headers{{"Authorization", "Bearer tell-nobody"}});
  EXPECT_EQ(secrets.masked("Bearer tell-nobody, or tell-nobody, as a Bearer"),
            "***, or ***, as a Bearer");
}

TEST(Secrets, AreAllWordsOfACookie) {
  const Secrets secrets(Headers{{"Cookie", "session=abcdefgh; theme=dark"}});
  EXPECT_EQ(secrets.masked("no session=abcdefgh with theme=dark"), "no *** with ***");
}

TEST(Secrets, HaveSixBytesOrMore) {
  const Secrets secrets(Headers{{"X-Region", "north"}, {"X-Key", "abcdef"}});
  EXPECT_EQ(secrets.masked("abcdef is in the north"), "*** is in the north");
}

TEST(Secrets, AreFoundWhereverTheyStand) {
  const Secrets secrets(Headers{{"X-Key", "abcdef"}});
  EXPECT_EQ(secrets.masked("abcdefabcdef and xabcdefx"), "****** and x***x");
}

TEST(Secrets, OfNoHeadersHideNothing) { EXPECT_EQ(Secrets().masked("a text"), "a text"); }

}  // namespace
}  // namespace sitter
