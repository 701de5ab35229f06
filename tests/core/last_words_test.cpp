#include "core/base/last_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LastWordsTest, AreTheLastLines) {
  EXPECT_THAT(last_words("a\n  b\nc\nd\n", 3), ElementsAre("  b", "c", "d"));
  EXPECT_THAT(last_words("a", 3), ElementsAre("a"));
  EXPECT_THAT(last_words("", 3), IsEmpty());
  EXPECT_THAT(last_words("\n \n", 3), IsEmpty());
}

TEST(LastWordsTest, TheErrorOfNodeStandsAboveItsStack) {
  EXPECT_THAT(last_words("file:///srv/server.mjs:11\n"
                         "  throw new Error('index of row 17');\n"
                         "        ^\n"
                         "\n"
                         "Error: index of row 17\n"
                         "    at process.<anonymous> (file:///srv/server.mjs:11:9)\n"
                         "    at process.emit (node:events:519:28)\n"
                         "\n"
                         "Node.js v22.23.3\n",
                         3),
              ElementsAre("file:///srv/server.mjs:11", "  throw new Error('index of row 17');",
                          "Error: index of row 17"));
}

TEST(LastWordsTest, TheErrorOfPythonStandsBelowItsStack) {
  EXPECT_THAT(
      last_words("Traceback (most recent call last):\n"
                 "  File \"server.py\", line 3, in <module>\n"
                 "    f()\n"
                 "ValueError: no row 17\n",
                 3),
      ElementsAre("  File \"server.py\", line 3, in <module>", "    f()", "ValueError: no row 17"));
}

TEST(LastWordsTest, AnErrorFurtherUpComesBeforeTheLastLines) {
  EXPECT_THAT(last_words("listening\n"
                         "panic: no row 17\n"
                         "goroutine 1 [running]:\n"
                         "main.read(...)\n"
                         "\t/srv/main.go:7\n"
                         "main.main()\n"
                         "\t/srv/main.go:12 +0x25\n",
                         3),
              ElementsAre("panic: no row 17", "goroutine 1 [running]:", "main.read(...)"));
}

TEST(LastWordsTest, OnlyTheLastErrorCounts) {
  EXPECT_THAT(last_words("error: one\na\nerror: two\nb\nc\nd\n", 3),
              ElementsAre("error: two", "b", "c"));
}

TEST(LastWordsTest, LinesThatComeOneByOneGiveTheSame) {
  for (const std::string begin : {"up\n", "up\ncannot open notes.db\n", "ValueError\nup\n"}) {
    for (int more = 0; more < 9; ++more) {
      std::string text = begin;
      LastWords words(4);
      for (int i = 0; i < more; ++i) text += "line " + std::to_string(i) + "\n";
      for (const std::string_view line : text_lines(text)) words.add(std::string(line));
      const auto wanted = last_words(text, 4);
      EXPECT_EQ(words.lines(), std::vector<std::string>(wanted.begin(), wanted.end())) << text;
    }
  }
}

}  // namespace
}  // namespace sitter
