#include "core/build/build_excerpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string excerpt(const std::vector<std::string>& lines, std::size_t lines_max = 12,
                    std::size_t bytes_max = limits::kBuildExcerptBytesMax) {
  std::vector<BuildLine> numbered;
  for (const std::string& line : lines) {
    numbered.push_back({static_cast<std::int64_t>(numbered.size()) + 1, line});
  }
  return build_excerpt(numbered, lines_max, bytes_max);
}
std::string excerpt_as_shown(const std::vector<std::string>& lines) {
  return excerpt(lines, limits::kBuildExcerptLinesMax);
}

std::vector<std::string> noise(int count) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) lines.push_back("compiling " + std::to_string(i));
  return lines;
}

TEST(BuildExcerptTest, ShortOutputIsShownWhole) {
  EXPECT_EQ(excerpt({}), "");
  EXPECT_EQ(excerpt({"a", "", "b"}), "a\n\nb");
}

TEST(BuildExcerptTest, TheLastLinesOfALongOutputAreShownAndTheRestIsCounted) {
  EXPECT_EQ(excerpt(noise(100), 2), "[... 98 lines left out]\ncompiling 98\ncompiling 99");
  EXPECT_EQ(excerpt(noise(3), 2), "[... 1 line left out]\ncompiling 1\ncompiling 2");
}

TEST(BuildExcerptTest, LinesThatWereNotKeptAreCountedToo) {
  EXPECT_EQ(build_excerpt({{3, "error: one"}, {4, "here"}, {1000, "the end"}}),
            "[... 2 lines left out]\nerror: one\nhere\n[... 995 lines left out]\nthe end");
}

TEST(BuildExcerptTest, ErrorsAreShownRatherThanNoise) {
  auto lines = noise(100);
  lines[10] = "main.cpp:3:5: error: 'x' was not declared";
  lines[11] = "    3 | x = 1;";
  EXPECT_THAT(excerpt(lines), AllOf(HasSubstr("[... 10 lines left out]\nmain.cpp:3:5: error"),
                                    HasSubstr("\n    3 | x = 1;\n"), EndsWith("compiling 99")));
}

TEST(BuildExcerptTest, TheFirstErrorsCountMost) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) lines.push_back("error " + std::to_string(i) + ".");
  EXPECT_THAT(excerpt(lines, 6),
              AllOf(StartsWith("error 0.\nerror 1."), HasSubstr("error 3.\n[..."),
                    EndsWith("error 98.\nerror 99.")));
}

TEST(BuildExcerptTest, AReportOfZeroErrorsIsNotAnError) {
  auto lines = noise(100);
  lines[10] = "0 errors, 2 warnings";
  EXPECT_THAT(excerpt(lines), Not(HasSubstr("0 errors")));
}

TEST(BuildExcerptTest, ARemarkAtALocationIsNotAnError) {
  auto lines = noise(100);
  lines[10] = "a.c:1:2: warning: unused";
  EXPECT_THAT(excerpt(lines), Not(HasSubstr("unused")));
}

TEST(BuildExcerptTest, LongErrorsLeaveRoomForTheLastLines) {
  std::vector<std::string> lines(100, "error: " + std::string(490, 'x'));
  lines.push_back("the end");
  EXPECT_THAT(excerpt_as_shown(lines), EndsWith("the end"));
}

TEST(BuildExcerptTest, ErrorsOfAllTools) {
  for (const std::string error :
       {"make: *** No rule to make target 'x'", "FAILED: a.o", "error[E0308]: mismatched types",
        "undefined reference to `f'", "Traceback (most recent call last):",
        "thread 'main' panicked", "src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
        "./a.go:3:2: undefined: x", "error: unresolved import `crate::info`"}) {
    auto lines = noise(100);
    lines[10] = error;
    EXPECT_THAT(excerpt(lines), HasSubstr(error));
  }
}

TEST(BuildExcerptTest, ALongLineIsCut) {
  EXPECT_THAT(excerpt({std::string(10'000, 'x')}),
              AllOf(HasSubstr("[9500 bytes cut]"), Not(HasSubstr(std::string(501, 'x')))));
}

TEST(BuildExcerptTest, ItKeepsToItsBytes) {
  std::vector<std::string> lines(1000, std::string(400, 'x'));
  for (std::size_t i = 0; i < lines.size(); i += 2) lines[i] = "error";
  const std::string text = excerpt_as_shown(lines);
  EXPECT_LE(text.size(), limits::kBuildExcerptBytesMax);
  EXPECT_GE(text.size(), limits::kBuildExcerptBytesMax / 4);
}

TEST(BuildExcerptTest, ItKeepsToItsLines) {
  const auto lines = noise(1000);
  const std::string text = excerpt_as_shown(lines);
  const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(count, limits::kBuildExcerptLinesMax);
}

}  // namespace
}  // namespace sitter
