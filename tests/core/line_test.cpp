#include "sitter/line.hpp"

#include <gtest/gtest.h>

#include "sitter/bytes.hpp"

namespace sitter {
namespace {

TEST(LineTest, AnOwnedLineHasItsPadding) {
  const OwnedLine owned{std::string_view("abc")};
  EXPECT_EQ(owned.text(), "abc");
  EXPECT_EQ(owned.line().text(), "abc");
  EXPECT_GE(owned.text().capacity(), owned.size() + limits::kLinePadding);
  const OwnedLine moved{std::string(1000, 'x')};
  EXPECT_GE(moved.text().capacity(), 1000 + limits::kLinePadding);
}

TEST(LineTest, AMovedOwnedLineKeepsItsText) {
  OwnedLine short_one{std::string_view("abc")};
  const OwnedLine taken = std::move(short_one);
  EXPECT_EQ(taken.line().text(), "abc");
}

TEST(LineTest, AnAssignmentGivesTheFormerMemoryBack) {
  OwnedLine line{std::string(limits::kMiB, 'x')};
  line = OwnedLine();
  EXPECT_LT(line.text().capacity(), 100u);
  line = OwnedLine{std::string_view("abc")};
  EXPECT_EQ(line.line().text(), "abc");
  EXPECT_GE(line.text().capacity(), line.size() + limits::kLinePadding);
}

TEST(LineTest, APassedLineIsNotCopied) {
  const OwnedLine owned{std::string_view("abc")};
  const Outgoing passed = Outgoing::passed(owned.line());
  EXPECT_EQ(passed.head.data(), owned.text().data());
  EXPECT_EQ(passed.text(), "abc");
  EXPECT_EQ(passed.size(), 3u);
}

TEST(LineTest, ASplicedLineKeepsTheRest) {
  const OwnedLine owned{std::string_view(R"json({"id":7,"x":1.0})json")};
  const Outgoing spliced =
      Outgoing::spliced(owned.line(), owned.line().text().substr(6, 1), "\"a\"");
  EXPECT_EQ(spliced.text(), R"json({"id":"a","x":1.0})json");
  EXPECT_EQ(spliced.head.data(), owned.text().data());
  EXPECT_EQ(spliced.size(), spliced.text().size());
}

TEST(LineTest, SplicesAtTheEndsWork) {
  const OwnedLine owned{std::string_view("abc")};
  EXPECT_EQ(Outgoing::spliced(owned.line(), owned.line().text().substr(0, 0), "x").text(), "xabc");
  EXPECT_EQ(Outgoing::spliced(owned.line(), owned.line().text().substr(3, 0), "x").text(), "abcx");
  EXPECT_EQ(Outgoing::spliced(owned.line(), owned.line().text(), "x").text(), "x");
}

TEST(LineTest, AKeptLineOutlivesItsSource) {
  auto owned = std::make_unique<OwnedLine>(std::string_view("abcdef"));
  Outgoing line = Outgoing::spliced(owned->line(), owned->line().text().substr(2, 2), "--");
  line.keep();
  owned.reset();
  EXPECT_EQ(line.text(), "ab--ef");
  line.keep();
  EXPECT_EQ(line.text(), "ab--ef");
}

}  // namespace
}  // namespace sitter
