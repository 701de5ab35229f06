#include "core/cli/kept_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sitter/cli.hpp"

namespace sitter {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr std::size_t kEnd = limits::kRunOutputMax / 2;

KeptOutput output(std::string_view bytes) {
  KeptOutput made;
  made.add(bytes);
  return made;
}

std::string left_out(std::size_t bytes) {
  return "\n[" + std::to_string(bytes) + " bytes are left out here]\n";
}

TEST(KeptOutputTest, WhatFitsIsWhole) {
  EXPECT_TRUE(KeptOutput().is_whole());
  EXPECT_EQ(KeptOutput().text(), "");
  const std::string most(limits::kRunOutputMax, 'x');
  const KeptOutput kept = output(most);
  EXPECT_TRUE(kept.is_whole());
  EXPECT_EQ(kept.size(), limits::kRunOutputMax);
  EXPECT_EQ(kept.bytes(), most);
  EXPECT_EQ(kept.text(), most);
}

TEST(KeptOutputTest, OfMoreBothEndsAreKeptAndTheMiddleIsCounted) {
  const std::string head(kEnd, 'a');
  const std::string end(kEnd, 'z');
  const KeptOutput one_more = output(head + "m" + end);
  EXPECT_FALSE(one_more.is_whole());
  EXPECT_EQ(one_more.size(), limits::kRunOutputMax + 1);
  EXPECT_EQ(one_more.text(), head + left_out(1) + end);
  EXPECT_EQ(output(head + std::string(5'000'000, 'm') + end).text(),
            head + left_out(5'000'000) + end);
}

TEST(KeptOutputTest, ThePiecesInWhichItComesDoNotCount) {
  const std::string bytes =
      std::string(kEnd, 'a') + std::string(3 * kEnd + 7, 'm') + std::string(kEnd, 'z');
  const std::string text = output(bytes).text();
  for (const std::size_t piece : {std::size_t{65'537}, kEnd, kEnd + 1, 2 * kEnd}) {
    KeptOutput kept;
    for (std::size_t at = 0; at < bytes.size(); at += piece) kept.add(bytes.substr(at, piece));
    EXPECT_EQ(kept.size(), bytes.size());
    EXPECT_TRUE(kept.text() == text) << "in pieces of " << piece;
  }
}

TEST(KeptOutputTest, NoCharacterIsCut) {
  for (const std::string character : {"\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    std::string characters;
    while (characters.size() <= 3 * kEnd) characters += character;
    // All places of the borders in a character.
    for (std::size_t shift = 0; shift < character.size(); ++shift) {
      const std::string bytes = std::string(shift, 'x') + characters;
      const std::string text = output(bytes).text();
      EXPECT_EQ(text.find("\xef\xbf\xbd"), text.npos) << character << shift;
      const std::size_t mark = text.find("\n[");
      ASSERT_NE(mark, text.npos);
      EXPECT_LE(mark, kEnd);
      EXPECT_GT(mark + character.size(), kEnd);
      const std::size_t end = text.size() - text.find("here]\n") - 6;
      EXPECT_LE(end, kEnd);
      EXPECT_GT(end + character.size(), kEnd);
      EXPECT_EQ(text.substr(mark, text.size() - mark - end), left_out(bytes.size() - mark - end));
    }
  }
}

TEST(KeptOutputTest, TheTextIsReadable) {
  EXPECT_EQ(output(std::string_view("a\0b\xff\x1b[31mc\r\n", 12)).text(),
            "ab\xef\xbf\xbd"
            "c\n");
  const std::string rubbish = output(std::string(3 * kEnd, '\xff')).text();
  EXPECT_THAT(rubbish, StartsWith("\xef\xbf\xbd"));
  EXPECT_THAT(rubbish, EndsWith("\xef\xbf\xbd"));
  EXPECT_EQ(output(std::string("\x80", 1)).bytes(), "\x80");
}

}  // namespace
}  // namespace sitter
