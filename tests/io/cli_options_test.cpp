#include "options/cli_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>

#include "core/rebuild/watch_filter.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::UnorderedElementsAre;

TEST(SplitWordsTest, BlanksStandBetweenWords) {
  EXPECT_THAT(split_words("schema --json"), Optional(ElementsAre("schema", "--json")));
  EXPECT_THAT(split_words(" \t a\n\nb "), Optional(ElementsAre("a", "b")));
  EXPECT_THAT(split_words(""), Optional(IsEmpty()));
  EXPECT_THAT(split_words(" \n"), Optional(IsEmpty()));
}

TEST(SplitWordsTest, QuotesKeepBlanksTogether) {
  EXPECT_THAT(split_words(R"('a b' "c  d")"), Optional(ElementsAre("a b", "c  d")));
  EXPECT_THAT(split_words(R"(a'b 'c" d")"), Optional(ElementsAre("ab c d")));
  EXPECT_THAT(split_words(R"('' "" x)"), Optional(ElementsAre("", "", "x")));
  EXPECT_THAT(split_words(R"('"' "'")"), Optional(ElementsAre("\"", "'")));
}

TEST(SplitWordsTest, ABackslashKeepsTheNextCharacterButWithinSingleQuotes) {
  EXPECT_THAT(split_words(R"(a\ b \' \" \\ \n)"),
              Optional(ElementsAre("a b", "'", "\"", "\\", "n")));
  EXPECT_THAT(split_words(R"("a\"b\ c")"), Optional(ElementsAre("a\"b c")));
  EXPECT_THAT(split_words(R"('a\' \ )"), Optional(ElementsAre("a\\", " ")));
  EXPECT_THAT(split_words("a\\"), Optional(ElementsAre("a\\")));
}

TEST(SplitWordsTest, NothingElseIsSpecial) {
  EXPECT_THAT(split_words("$HOME `id` *.c a;b #x ~ {p}"),
              Optional(ElementsAre("$HOME", "`id`", "*.c", "a;b", "#x", "~", "{p}")));
}

TEST(SplitWordsTest, AQuoteThatDoesNotEndGivesNothing) {
  for (const char* const text : {"'", "\"", "a 'b", "a b\" c", R"("a\")", R"('a\'')"}) {
    EXPECT_EQ(split_words(text), std::nullopt) << text;
  }
}

TEST(PatternOfFileTest, OnlyTheFileMatches) {
  for (const std::string name : {"tools.json", "*", "a?.json", "[ab].json", "!a", "#a", "a!",
                                 R"(a\b)", "a b ", "sub/**/a"}) {
    const std::string file = "/base/" + name;
    const WatchFilter filter({pattern_of_file(name)}, "/base");
    EXPECT_TRUE(filter.takes_file(file)) << name;
    EXPECT_THAT(filter.roots(), ElementsAre(file));
    EXPECT_FALSE(filter.takes_file("/base/a1.json")) << name;
    EXPECT_TRUE(WatchFilter({pattern_of_file(file)}, "/other").takes_file(file)) << name;
  }
}

class CliOptionsTest : public ::testing::Test {
 protected:
  std::string complaint() {
    const auto made = cli_options(raw, directory.path(), command);
    const auto* const said = std::get_if<std::string>(&made);
    return said == nullptr ? "" : *said;
  }
  CliBackend::Options options() {
    auto made = cli_options(raw, directory.path(), command);
    if (const auto* const said = std::get_if<std::string>(&made)) {
      ADD_FAILURE() << *said;
      return {};
    }
    return std::get<CliBackend::Options>(std::move(made));
  }

  testing::TemporaryDirectory directory;
  RawCli raw;
  LaunchRequest command;
};

TEST_F(CliOptionsTest, TheToolIsTheCommand) {
  raw.tool = "./bin/notes.sh";
  const CliServer::Options server = options().server;
  EXPECT_EQ(command.command, "./bin/notes.sh");
  EXPECT_THAT(command.arguments, IsEmpty());
  EXPECT_EQ(server.name, "notes");
  EXPECT_THAT(server.tool_names,
              UnorderedElementsAre(ElementsAre("./bin/notes.sh"), ElementsAre("notes.sh")));
  EXPECT_THAT(server.description_arguments, ElementsAre("schema", "--json"));
  EXPECT_EQ(server.description_source, "./bin/notes.sh schema --json");
  EXPECT_EQ(server.calls_max, limits::kCallsMaxDefault);
  EXPECT_EQ(server.call_timeout, limits::kCallTimeoutDefault);
}

TEST_F(CliOptionsTest, TheToolMayHaveWordsOfItsOwn) {
  raw.tool = "python3 -u 'my notes.py'";
  raw.schema_arguments = "describe 'a b'";
  const CliServer::Options server = options().server;
  EXPECT_EQ(command.command, "python3");
  EXPECT_THAT(command.arguments, ElementsAre("-u", "my notes.py"));
  EXPECT_EQ(server.name, "my notes");
  EXPECT_THAT(server.description_arguments, ElementsAre("describe", "a b"));
}

TEST_F(CliOptionsTest, APathOfAFileMayHaveBlanksAndQuotes) {
  const std::string file = directory.write("it's a tool", "");
  for (const std::string& path : {file, std::string("it's a tool"), std::string("./it's a tool")}) {
    raw.tool = path;
    options();
    EXPECT_EQ(command.command, path);
    EXPECT_THAT(command.arguments, IsEmpty());
  }
}

TEST_F(CliOptionsTest, AFileMayDescribeTheTool) {
  raw.tool = "git";
  raw.schema_file = "git-tools.json";
  const CliBackend::Options made = options();
  EXPECT_EQ(made.description_file, directory / "git-tools.json");
  EXPECT_EQ(made.server.description_source, "git-tools.json");
  EXPECT_THAT(made.server.description_arguments, IsEmpty());
  raw.schema_file = directory / "elsewhere/tools.json";
  EXPECT_EQ(options().description_file, raw.schema_file);
}

TEST_F(CliOptionsTest, SecondsAreRounded) {
  raw.tool = "notes";
  raw.calls_max = 256;
  for (const auto& [seconds, milliseconds] :
       {std::pair(0.001, 1), {0.0015, 2}, {86400.0, 86'400'000}}) {
    raw.call_timeout = seconds;
    EXPECT_EQ(options().server.call_timeout, Milliseconds(milliseconds));
  }
  EXPECT_EQ(options().server.calls_max, 256U);
}

TEST_F(CliOptionsTest, WhatIsWrongIsNamedWithItsOptionAndWhatToDo) {
  for (const char* const blank : {"", "  ", "\n", "''", "\"\" x"}) {
    raw.tool = blank;
    EXPECT_THAT(complaint(), EndsWith("' names no tool: name one, as in --cli ./notes"));
  }
  raw.tool = "it's";
  EXPECT_EQ(complaint(),
            "--cli: 'it's' has a quote that does not end: add the other one, or put \\ before it");
  raw.tool = std::string(1000, 'x') + "\"";
  EXPECT_THAT(complaint(), HasSubstr("x… [901 bytes cut]' has a quote"));
  raw.tool = "notes";
  raw.schema_arguments = " ";
  EXPECT_EQ(complaint(),
            "--schema-args: '' has no words; a file with the description is named with "
            "--schema-file");
  raw.schema_arguments = "'schema";
  EXPECT_THAT(complaint(),
              EndsWith("has a quote that does not end: add the other one, or put \\ before it"));
}

}  // namespace
}  // namespace sitter
