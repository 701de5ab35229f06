#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/cli_tool.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CliValues : public CliToolTest {
 protected:
  /// A tool `show` whose command writes this, and has these members.
  void write_show(const std::string& members, const std::string& commands) {
    write(tool("show", members), commands);
  }

  /// The text of a call whose arguments the client writes in its own way.
  static std::string text_of_raw(ScriptedClient& client, const std::string& arguments) {
    client.owe(1);
    client.send(
        R"json({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show","arguments":)json" +
        arguments + "}}");
    return text_of(client.answer(1)["result"]);
  }
};

const std::string kHostile[] = {"-x",       "--",       "--output=f", "$(echo a)", "`echo a`",
                                "a\nb\n\n", "a\tb",     "'\"\\",      "; exit 3",  "* ? [a] ~ #",
                                "{text}",   "{{text}}", "%s%n",       "é😀",        " "};

TEST_F(CliValues, AnArgumentIsTheSameTextInAWordAVariableAndTheInput) {
  write_show(
      R"json("cli_command":["--","<{text}>","--","{text}"],"env":{"TEXT":"{text}"},"stdin":"{text}")json",
      "printf '%s' \"$2\" \"$4\" \"<$TEXT>\" \"<\"; cat; printf '>'");
  ScriptedClient client(setup());
  client.open();
  for (const std::string& text : kHostile) {
    const std::string result = client.text_of_call("show", {{"text", text}});
    EXPECT_EQ(Json(result), Json("<" + text + ">" + text + "<" + text + "><" + text + ">"));
  }
  EXPECT_EQ(client.text_of_call("show", {{"text", ""}}), "<><><>");
}

TEST_F(CliValues, WhatCouldBeAnOptionIsRefusedAndNothingRuns) {
  write_show(R"json("cli_command":["show","{text}"])json", "echo ran >>ran; printf '%s' \"$2\"");
  ScriptedClient client(setup());
  client.open();
  for (const std::string text : {"-x", "--", "--output=f", "-"}) {
    const Json result = client.result_of("show", {{"text", text}});
    EXPECT_TRUE(result.value("isError", false));
    EXPECT_THAT(text_of(result),
                AllOf(StartsWith("[mcp-sitter] `show` was not run: the argument `text` begins"),
                      HasSubstr("(" + text + ")")));
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "ran"));
  EXPECT_EQ(client.text_of_call("show", {{"text", "x"}}), "x");
}

TEST_F(CliValues, ANulIsAllowedOnlyInTheInput) {
  write_show(R"json("cli_command":["show"],"stdin":"{text}")json", "od -An -tx1 | tr -d ' \\n'");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("show", {{"text", std::string("a\0b\n", 4)}}), "6100620a");
  client.end();
  for (const std::string member :
       {R"json("env":{"TEXT":"{text}"})json", R"json("cwd":"{text}")json"}) {
    write_show(R"json("cli_command":["show"],)json" + member, "printf ran");
    ScriptedClient other(setup());
    other.open();
    EXPECT_EQ(other.text_of_call("show", {{"text", std::string("a\0b", 3)}}),
              "[mcp-sitter] `show` was not run: the argument `text` has a NUL character, which "
              "cannot be passed on");
  }
}

TEST_F(CliValues, AMegabyteFitsIntoTheInputButNotIntoAWord) {
  write_show(R"json("cli_command":["show",["word","{text}"]],"stdin":"{text}")json", "cat");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("show", {{"text", std::string(1 << 20, 'x')}}),
            "[mcp-sitter] `show` was not run: the argument `text` makes a word of 1048576 bytes, "
            "and a word of a command has at most 131071 (execve(2)); the member stdin of the "
            "description takes more");
  client.end();
  write_show(R"json("cli_command":["show"],"stdin":"{text}")json", "cat");
  ScriptedClient other(setup());
  other.open();
  std::string text;
  while (text.size() < 1'000'000) text += "é$(x)\n\"";
  EXPECT_TRUE(other.text_of_call("show", {{"text", text}}) == text);
}

TEST_F(CliValues, TheLongestWordIsRun) {
  write_show(R"json("cli_command":["{text}"])json", "printf '%s' \"${#1}\"");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("show", {{"text", std::string(131'071, 'x')}}), "131071");
}

TEST_F(CliValues, MoreWordsThanTheSystemTakesAreAnError) {
  write(
      R"json({"name":"show","parameters":{"properties":{"texts":{"type":"array"}}},"cli_command":["{texts}"]})json",
      "printf '%s' \"$#\"");
  ScriptedClient client(setup());
  client.open();
  const Json texts(40, std::string(131'000, 'x'));
  EXPECT_THAT(client.text_of_call("show", {{"texts", texts}}),
              StartsWith("[mcp-sitter] `show` could not be run: "));
  EXPECT_EQ(client.text_of_call("show", {{"texts", Json(1000, "x")}}), "1000");
}

TEST_F(CliValues, WhatNoTextCanHoldIsRefusedByName) {
  write_show(R"json("cli_command":["show"],"stdin":"{text}")json", "echo ran >>ran");
  ScriptedClient client(setup());
  client.open();
  for (const std::string value : {R"json("\ud83d")json", R"json("a\ude00b")json", "1e400"}) {
    EXPECT_THAT(text_of_raw(client, R"json({"text":)json" + value + "}"),
                StartsWith("[mcp-sitter] `show` was not run: the argument `text` has half of a "
                           "surrogate pair, or a number beyond the range of a double"));
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "ran"));
}

TEST_F(CliValues, OfAnArgumentThatIsWrittenTwiceTheLastOneIsCheckedAndRun) {
  write_show(R"json("cli_command":["show","{text}"])json", "printf '%s' \"$2\"");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(text_of_raw(client, R"json({"text":1,"text":"b"})json"), "b");
  EXPECT_THAT(text_of_raw(client, R"json({"text":"a","te\u0078t":"-b"})json"),
              HasSubstr("begins with"));
  EXPECT_THAT(text_of_raw(client, R"json({"text":"a","text":1})json"),
              HasSubstr("is not of type string"));
}

TEST_F(CliValues, OutputThatIsNoTextIsMadeReadable) {
  write_show(R"json("cli_command":["show"])json",
             R"(printf 'a\000b\377\033[31mc\n'; printf '\377\n' >&2; exit 1)");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("show"),
            "ab\xef\xbf\xbd"
            "c\n\n[mcp-sitter] the command of `show` has failed: exit 1; its stderr "
            "says:\n\xef\xbf\xbd");
}

TEST_F(CliValues, OfALongOutputBothEndsAreShown) {
  write_show(R"json("cli_command":["show"])json",
             "echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end");
  ScriptedClient client(setup());
  client.open();
  const std::string text = client.text_of_call("show");
  EXPECT_THAT(text.substr(0, 8), StartsWith("begin\nx"));
  EXPECT_THAT(text.substr(text.size() - 8), EndsWith("x\nend\n"));
  EXPECT_NE(text.find("\n[1951435 bytes are left out here]\n"), text.npos);
}

TEST_F(CliValues, AResultOfTheToolIsPassedOnIfClientsTakeIt) {
  write_show(R"json("cli_command":["show"],"stdin":"{text}")json", "cat");
  ScriptedClient client(setup());
  client.open();
  const Json good = {{"content", {{{"type", "text"}, {"text", "a"}}}}, {"isError", true}};
  EXPECT_EQ(client.result_of("show", {{"text", good.dump(1)}}), good);
  const Json broken = {{"content", {{{"type", "text"}}}}};
  EXPECT_EQ(client.result_of("show", {{"text", broken.dump()}})["structuredContent"], broken);
}

TEST_F(CliValues, AnImageIsPassedOn) {
  write_show(R"json("cli_command":["show"],"content_type":"image/png")json",
             R"(printf '\211PNG\000\n')");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(
      client.result_of("show"),
      Json({{"content", {{{"type", "image"}, {"data", "iVBORwAK"}, {"mimeType", "image/png"}}}}}));
}

TEST_F(CliValues, ASignalIsNamed) {
  write_show(R"json("cli_command":["show"],"ok_exit_codes":[139])json", "echo half; kill -SEGV $$");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("show"),
            "half\n\n[mcp-sitter] the command of `show` has failed: SIGSEGV");
}

TEST_F(CliValues, TheLastTwentyLinesOfTheStderrAreShown) {
  write_show(R"json("cli_command":["show"])json",
             "i=1; while test $i -le 21; do echo line $i >&2; i=$((i + 1)); done; exit 1");
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(client.text_of_call("show"),
              AllOf(HasSubstr("its stderr says:\nline 2\n"), EndsWith("\nline 21"),
                    Not(HasSubstr("line 1\n"))));
}

}  // namespace
}  // namespace sitter::testing
