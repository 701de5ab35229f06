#include "io/system/command_line.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(CommandLine, QuotesOnlyWordsThatNeedIt) {
  EXPECT_EQ(command_line_of({"C:/a/node.exe", "server.js", "--port=1"}),
            "C:/a/node.exe server.js --port=1");
  EXPECT_EQ(command_line_of({"my server.exe", "", "a\tb"}), "\"my server.exe\" \"\" \"a\tb\"");
}

// The examples of Microsoft, "Parsing C command-line arguments".
TEST(CommandLine, DoublesBackslashesBeforeAQuoteOnly) {
  EXPECT_EQ(command_line_of({R"(a\\b)", "d e"}), R"(a\\b "d e")");
  EXPECT_EQ(command_line_of({R"(a\"b)"}), R"("a\\\"b")");
  EXPECT_EQ(command_line_of({R"(a\\b c)"}), R"("a\\b c")");
  EXPECT_EQ(command_line_of({R"(C:\my folder\)"}), R"("C:\my folder\\")");
}

TEST(CommandLine, IsSplitIntoTheWordsThatItWasMadeOf) {
  const std::vector<std::string> words = {
      R"(C:\my folder\a.exe)", "", R"(a\\b)", R"(a\"b)", R"(C:\d e\)", "\t", R"(\\")", "é"};
  EXPECT_EQ(words_of(command_line_of(words)), words);
}

// Further examples of Microsoft, ibid.
TEST(CommandLine, IsSplitAsTheRuntimeOfCSplitsIt) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of(R"(a.exe "a b c" d e)"), (Words{"a.exe", "a b c", "d", "e"}));
  EXPECT_EQ(words_of(R"(a.exe "ab\"c" "\\" d)"), (Words{"a.exe", "ab\"c", "\\", "d"}));
  EXPECT_EQ(words_of(R"(a.exe a\\\b d"e f"g h)"), (Words{"a.exe", R"(a\\\b)", "de fg", "h"}));
  EXPECT_EQ(words_of(R"(a.exe a\\\"b c d)"), (Words{"a.exe", R"(a\"b)", "c", "d"}));
  EXPECT_EQ(words_of(R"(a.exe a\\\\"b c" d e)"), (Words{"a.exe", R"(a\\b c)", "d", "e"}));
  EXPECT_EQ(words_of(R"(a.exe a"b"" c d)"), (Words{"a.exe", R"(ab" c d)"}));
}

TEST(CommandLine, HasABackslashAtTheEndOfTheProgramAsItIs) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of(R"("C:\my folder\" a)"), (Words{R"(C:\my folder\)", "a"}));
  EXPECT_EQ(words_of("  a.exe\t b  "), (Words{"a.exe", "b"}));
  EXPECT_EQ(words_of(" "), Words{});
  EXPECT_EQ(words_of(R"(a.exe \)"), (Words{"a.exe", "\\"}));
}

TEST(CommandLine, OfTheShellHasItsCommandAsItIs) {
  EXPECT_EQ(
      command_line_of({"C:/Windows/System32/cmd.exe", "/d", "/s", "/c", R"(cl /Fe"a b" a.c)"}),
      R"(C:/Windows/System32/cmd.exe /d /s /c "cl /Fe"a b" a.c")");
}

TEST(CommandLine, KnowsABatchFileByItsEnding) {
  EXPECT_TRUE(is_batch_file("C:/nodejs/npx.CMD"));
  EXPECT_TRUE(is_batch_file("run.bat"));
  EXPECT_FALSE(is_batch_file("C:/nodejs/node.exe"));
  EXPECT_FALSE(is_batch_file("cmd"));
}

TEST(CommandLine, OfABatchFileKeepsEachWordWithinQuotes) {
  EXPECT_EQ(batch_command_line({R"(C:\npm\claude.cmd)", "a&b", R"({"x":"y"})"}),
            "cmd.exe /d /e:on /v:off /s /c "
            R"(""C:\npm\claude.cmd" "a&b" "{""x"":""y""}"")");
  EXPECT_EQ(batch_command_line({"a.cmd", R"(\"\)"}),
            R"(cmd.exe /d /e:on /v:off /s /c ""a.cmd" "\\""\\"")");
}

TEST(CommandLine, OfABatchFileReadsNoVariable) {
  EXPECT_EQ(batch_command_line({"a.cmd", "%PATH%"}),
            R"(cmd.exe /d /e:on /v:off /s /c ""a.cmd" "%%cd:~,%PATH%%cd:~,%"")");
}

TEST(CommandLine, OfABatchFileHasNoLineEnd) {
  EXPECT_FALSE(batch_command_line({"a.cmd", "b\nc"}));
  EXPECT_FALSE(batch_command_line({"a.cmd", "b\r"}));
  EXPECT_FALSE(batch_command_line({"a.cmd", std::string("b\0c", 3)}));
}

}  // namespace
}  // namespace sitter
