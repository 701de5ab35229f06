#include "core/base/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ReadableTest, PlainTextTabsAndNewlinesStay) {
  EXPECT_EQ(readable("a\tb\nüñ€😀"), "a\tb\nüñ€😀");
}

TEST(ReadableTest, ColoursAndCursorMovesAreLeftOut) {
  EXPECT_EQ(readable("\x1b[1;31mred\x1b[0m \x1b[2Kline\x1b[?25l"), "red line");
  EXPECT_EQ(readable("\x1b(Bplain\x1b"
                     "7saved"),
            "plainsaved");
  EXPECT_EQ(readable("\xC2\x9B"
                     "31mred"),
            "red");
}

TEST(ReadableTest, TitlesAndLinksAreLeftOutWithTheirText) {
  EXPECT_EQ(readable("a\x1b]0;title\x07"
                     "b"),
            "ab");
  EXPECT_EQ(readable("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b"), "alinkb");
  EXPECT_EQ(readable("a\x1bPq#0\x1b\\b"), "ab");
  EXPECT_EQ(readable("a\xC2\x9D"
                     "0;title\xC2\x9C"
                     "b"),
            "ab");
}

TEST(ReadableTest, SequencesThatNeverEndCostNoText) {
  EXPECT_EQ(readable("a\x1b]0;not a title"), "a0;not a title");
  EXPECT_EQ(readable("a\x1b[31"), "a");
  EXPECT_EQ(readable("a\x1b[31\nb"), "a\nb");
  EXPECT_EQ(readable("a\x1b"), "a");
  EXPECT_EQ(readable("a\x1b]x\x1b[1mb"), "axb");
}

TEST(ReadableTest, ATitleEndsAtTheEndOfItsLine) {
  EXPECT_EQ(readable("a\x1b]0;b\nc\x07"), "a0;b\nc");
}

TEST(ReadableTest, ManyOpenSequencesTakeLinearTime) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\x1b]\xC2\x9D";
  EXPECT_EQ(readable(text), "");
}

TEST(ReadableTest, ControlCharactersAreLeftOut) {
  EXPECT_EQ(readable(std::string("a\0b\x01\x08\x7f"
                                 "c\xC2\x85"
                                 "d",
                                 10)),
            "abcd");
}

TEST(ReadableTest, ALoneCarriageReturnIsALineEnd) {
  EXPECT_EQ(readable("10%\r20%\r\nend\r"), "10%\n20%\nend\n");
}

TEST(ReadableTest, IllFormedBytesBecomeReplacementCharacters) {
  EXPECT_EQ(readable("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(readable("a\xE2\x82"), "a\uFFFD");
  EXPECT_EQ(readable("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(readable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(readable("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
  EXPECT_EQ(readable("\xF0\x9F\x98x"), "\uFFFDx");
}

TEST(ReadableTest, WhatChangesTheOrderOfTextIsLeftOut) {
  EXPECT_EQ(readable("a\u061Cb\u200Ec\u200Fd\u202Ae\u202Ef\u2066g\u2069h"), "abcdefgh");
  // The neighbours of these code points join letters or have a meaning.
  EXPECT_EQ(readable("a\u200Db\u2070"), "a\u200Db\u2070");
}

TEST(ReadableTest, SeparatorsOfUnicodeBecomeNewlines) {
  EXPECT_EQ(readable("a\u2028b\u2029c"), "a\nb\nc");
}

TEST(IsControlTest, DetectsTerminalControlsAndBidiMarks) {
  for (const char32_t c : {0x0, 0x1F, 0x7F, 0x80, 0x9B, 0x9F, 0x61C, 0x200E, 0x200F, 0x2028, 0x2029,
                           0x202A, 0x202E, 0x2066, 0x2069}) {
    EXPECT_TRUE(is_control(c)) << std::hex << static_cast<unsigned>(c);
  }
  for (const char32_t c :
       {0x20, 0x7E, 0xA0, 0xAD, 0x200D, 0x2010, 0x2027, 0x202F, 0x2065, 0x206A, 0xFFFD, 0x1F600}) {
    EXPECT_FALSE(is_control(c)) << std::hex << static_cast<unsigned>(c);
  }
}

TEST(PrintableJsonTest, ControlsAreEscapedAndNothingElse) {
  const std::string text = "{\n  \"dîr😀\": \"a\u009B31m\x7F\u202E\u2028\x1B\"\n}";
  EXPECT_EQ(printable_json(text), "{\n  \"dîr😀\": \"a\\u009b31m\\u007f\\u202e\\u2028\\u001b\"\n}");
  EXPECT_EQ(printable_json("\"\xFF\""), "\"\uFFFD\"");
}

TEST(OneLineTest, EveryKindOfLineBreakBecomesASpace) {
  EXPECT_EQ(one_line("a\nb\rc\r\nd\u2028e\u2029f"), "a b c d e f");
}

TEST(OneLineTest, SpaceAtBothEndsIsRemoved) {
  EXPECT_EQ(one_line("\n \ta b\n\n"), "a b");
  EXPECT_EQ(one_line(" \n"), "");
}

TEST(ShortenedTest, TextOfTheLimitIsWholeAndOneByteMoreIsCut) {
  EXPECT_EQ(shortened("12345", 5), "12345");
  EXPECT_EQ(shortened("123456", 5), "12345… [1 byte cut]");
}

TEST(ShortenedTest, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("ab€d", 4), "ab… [4 bytes cut]");
  EXPECT_EQ(shortened("ab€d", 5), "ab€… [1 byte cut]");
}

TEST(BriefTest, CutsWhatIsLeftOnOneLine) {
  EXPECT_EQ(brief("a\x1B[1mb\nc", 3), "ab … [1 byte cut]");
  EXPECT_EQ(brief("\na\n", 1), "a");
}

TEST(DurationTextTest, SecondsHaveAtMostOneDigitBehindThePoint) {
  EXPECT_EQ(duration_text(milliseconds(1800)), "1.8s");
  EXPECT_EQ(duration_text(milliseconds(2149)), "2.1s");
  EXPECT_EQ(duration_text(seconds(45)), "45s");
  EXPECT_EQ(duration_text(milliseconds(59'999)), "59.9s");
}

TEST(DurationTextTest, LessThanATenthOfASecondIsNotNothing) {
  EXPECT_EQ(duration_text(milliseconds(0)), "0s");
  EXPECT_EQ(duration_text(milliseconds(4)), "0.004s");
  EXPECT_EQ(duration_text(milliseconds(99)), "0.099s");
  EXPECT_EQ(duration_text(milliseconds(100)), "0.1s");
}

TEST(DurationTextTest, MinutesAndHoursFollow) {
  EXPECT_EQ(duration_text(seconds(60)), "1m");
  EXPECT_EQ(duration_text(seconds(3599)), "59m");
  EXPECT_EQ(duration_text(seconds(3600)), "1h");
  EXPECT_EQ(duration_text(seconds(5400)), "1.5h");
}

TEST(AgeTextTest, KeepsTheWordingOfTheFirstVersions) {
  EXPECT_EQ(age_text(milliseconds(999)), "just now");
  EXPECT_EQ(age_text(seconds(1)), "1s ago");
  EXPECT_EQ(age_text(seconds(59)), "59s ago");
  EXPECT_EQ(age_text(seconds(120)), "2 min ago");
  EXPECT_EQ(age_text(hours(1)), "1.0 hours ago");
  EXPECT_EQ(age_text(hours(23)), "23.0 hours ago");
  EXPECT_EQ(age_text(hours(36)), "1.5 days ago");
}

TEST(AgeTextTest, AClockSetBackIsJustNow) { EXPECT_EQ(age_text(seconds(-5)), "just now"); }

TEST(UtcTextTest, HasSevenDigits) {
  EXPECT_EQ(utc_text(WallTime(seconds(0))), "1970-01-01T00:00:00.0000000Z");
  const WallTime time{std::chrono::duration_cast<WallTime::duration>(
      seconds(1764059400) + std::chrono::microseconds(123456))};
  EXPECT_EQ(utc_text(time), "2025-11-25T08:30:00.1234560Z");
}

TEST(ToolHintTest, IsEmptyForAnUnavailableTool) {
  EXPECT_EQ(tool_hint("a"), " (a shows more)");
  EXPECT_EQ(tool_hint("a", "shows all"), " (a shows all)");
  EXPECT_EQ(tool_hint("", "shows all"), "");
}

TEST(RestartClauseTest, WithoutAToolTheUserIsAsked) {
  EXPECT_EQ(restart_clause("a"), "call a");
  EXPECT_EQ(restart_clause(""), "ask the user to restart the server (mcp-sitter ctl kill)");
}

TEST(JsonStringTest, PrintableTextIsKept) { EXPECT_EQ(json_string("dîr+'<ü>😀"), "\"dîr+'<ü>😀\""); }

TEST(JsonStringTest, IsValidWhateverGoesIn) {
  EXPECT_EQ(json_string(std::string("\"\\\n\0\x1b\xFF", 6)), R"("\"\\\n\u0000\u001b)"
                                                             "\uFFFD\"");
}

}  // namespace
}  // namespace sitter
