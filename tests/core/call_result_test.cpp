#include "core/tool_server/call_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/json_text.hpp"
#include "core/tool_server/kept_output.hpp"
#include "sitter/cli.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Json = nlohmann::json;

CliTool tool_with(const std::string& members = {}) {
  auto read = read_description(
      R"json([{"name":"add","cli_command":[])json" + (members.empty() ? "" : "," + members) + "}]",
      {});
  return std::move(std::get<Description>(read).tools.front());
}

/// How a run has ended.
struct End {
  int code = 0;
  std::string signal = {};
  std::vector<std::string> error_lines = {};
  std::string stopped = {};
};

/// The result of a run that has written these bytes.
std::string result_of(const CliTool& tool, std::string_view bytes, const End& end = {}) {
  KeptOutput output;
  output.add(bytes);
  std::string result =
      call_result(tool, {output, end.error_lines, {end.code, end.signal}, end.stopped});
  EXPECT_EQ(result.find('\n'), result.npos) << "a result stands on one line";
  EXPECT_TRUE(has_json_grammar(result)) << result;
  return result;
}
std::string result_of(std::string_view bytes, const End& end = {}) {
  return result_of(tool_with(), bytes, end);
}

/// The result that is this text, as raw JSON without its quotes, and no more.
std::string text(const std::string& raw) {
  return R"json({"content":[{"type":"text","text":")json" + raw + R"json("}]})json";
}

TEST(CallResultTest, OneJsonObjectIsStructuredContentToo) {
  EXPECT_EQ(result_of("{\"a\":1,\r\n \"b\":[]}\n"),
            R"json({"content":[{"type":"text","text":"{\"a\":1,\n \"b\":[]}\n"}],)json"
            R"json("structuredContent":{"a":1,   "b":[]}})json");
  EXPECT_EQ(result_of("{}"),
            R"json({"content":[{"type":"text","text":"{}"}],"structuredContent":{}})json");
  // Numbers and members stay as they are written.
  EXPECT_THAT(
      result_of(R"json({"n":1.50,"big":123456789012345678901,"n":2})json"),
      HasSubstr(R"json("structuredContent":{"n":1.50,"big":123456789012345678901,"n":2})json"));
}

TEST(CallResultTest, AnythingElseIsText) {
  EXPECT_EQ(result_of(""), text(""));
  EXPECT_EQ(result_of("\n\n\n"), text(R"(\n\n\n)"));
  EXPECT_EQ(result_of("[1,2]\n"), text(R"([1,2]\n)"));
  EXPECT_EQ(result_of("\"a\""), text(R"(\"a\")"));
  EXPECT_EQ(result_of("null"), text("null"));
  EXPECT_EQ(result_of("{\"a\":1}\n{\"a\":2}\n"), text(R"({\"a\":1}\n{\"a\":2}\n)"));
  EXPECT_EQ(result_of("{\"a\":1} done"), text(R"({\"a\":1} done)"));
  EXPECT_EQ(result_of("{\"a\":"), text(R"({\"a\":)"));
  EXPECT_EQ(result_of("{'a':1}"), text("{'a':1}"));
}

TEST(CallResultTest, WhatNotEveryClientCanReadIsText) {
  EXPECT_EQ(result_of(R"json({"a":1e400})json"), text(R"({\"a\":1e400})"));
  EXPECT_EQ(result_of(R"json({"a":"\ud800"})json"), text(R"({\"a\":\"\\ud800\"})"));
  EXPECT_EQ(result_of("{\"a\":\"\xff\"}"), text("{\\\"a\\\":\\\"\xef\xbf\xbd\\\"}"));
  EXPECT_EQ(result_of(std::string_view("{\"a\":\"\0\"}", 9)), text(R"({\"a\":\"\"})"));
}

TEST(CallResultTest, ReplacesInvalidUtf8) {
  EXPECT_EQ(result_of(std::string_view("a\0b\xffz\x1b[1m!", 10)), text("ab\xef\xbf\xbdz!"));
}

TEST(CallResultTest, AnObjectIsStructuredUpToTheBoundOfNesting) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_THAT(result_of(nested(limits::kNestingMax)), HasSubstr("structuredContent"));
  EXPECT_THAT(result_of(nested(limits::kNestingMax + 1)), Not(HasSubstr("structuredContent")));
}

TEST(CallResultTest, AnObjectIsStructuredUpToTheBoundOfTheOutput) {
  const auto object = [](std::size_t size) {
    return "{\"a\":\"" + std::string(size - 8, 'x') + "\"}";
  };
  EXPECT_THAT(result_of(object(limits::kRunOutputMax)), EndsWith("xx\"}}"));
  EXPECT_THAT(result_of(object(limits::kRunOutputMax + 1)),
              AllOf(HasSubstr(R"(\n[1 bytes are left out here]\n)"), EndsWith(R"(\"}"}]})")));
}

TEST(CallResultTest, AResultIsPassedOnAsItIs) {
  for (
      const std::string content :
      {R"json([])json", R"json([{"type":"text","text":"a"}])json",
       R"json([{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"","mimeType":"audio/wav"}])json",
       R"json([{"type":"resource_link","uri":"file:///a","name":"a"}])json",
       R"json([{"type":"resource","resource":{"uri":"file:///a","text":""}}])json",
       R"json([{"type":"resource","resource":{"uri":"file:///a","blob":""}}])json"}) {
    for (const std::string more :
         {"", R"json(,"structuredContent":{"a":1})json", R"json(,"isError":true)json",
          R"json(,"isError":false,"_meta":{"a":1})json", R"json(,"other":null)json",
          R"json(,"resultType":"complete")json"}) {
      const std::string result = "{\"content\":" + content + more + "}";
      EXPECT_EQ(result_of(" " + result + "\n"), result);
    }
  }
  EXPECT_EQ(result_of("{\n\"content\": []\r\n}\n"), "{ \"content\": []  }");
}

TEST(CallResultTest, TreatsAnInvalidResultAsStructuredContent) {
  for (const std::string object :
       {R"json({"content":"text"})json",
        R"json({"content":{}})json",
        R"json({"content":null})json",
        R"json({"content":["a"]})json",
        R"json({"content":[null]})json",
        R"json({"content":[{}]})json",
        R"json({"content":[{"type":"text"}]})json",
        R"json({"content":[{"type":"text","text":1}]})json",
        R"json({"content":[{"type":"text","text":"a"},{"type":"text"}]})json",
        R"json({"content":[{"type":"Text","text":"a"}]})json",
        R"json({"content":[{"type":1,"text":"a"}]})json",
        R"json({"content":[{"type":"image","data":"AA=="}]})json",
        R"json({"content":[{"type":"audio","mimeType":"audio/wav"}]})json",
        R"json({"content":[{"type":"resource_link","uri":"file:///a"}]})json",
        R"json({"content":[{"type":"resource","resource":{"uri":"file:///a"}}]})json",
        R"json({"content":[{"type":"resource","resource":{"text":""}}]})json",
        R"json({"content":[{"type":"resource","uri":"file:///a","text":""}]})json",
        R"json({"content":[],"structuredContent":null})json",
        R"json({"content":[],"structuredContent":[1]})json",
        R"json({"content":[],"isError":"true"})json",
        R"json({"content":[],"isError":null})json",
        R"json({"content":[],"_meta":1})json",
        R"json({"content":[],"resultType":"input_required"})json",
        R"json({"content":[],"content":1})json"}) {
    EXPECT_EQ(result_of(object), R"json({"content":[{"type":"text","text":)json" +
                                     Json(object).dump() + R"json(}],"structuredContent":)json" +
                                     object + "}");
  }
}

TEST(CallResultTest, AnImageOrASoundIsBase64) {
  EXPECT_EQ(result_of(tool_with(R"json("content_type":"image/png")json"),
                      std::string_view("\x89P\0\n", 4)),
            R"json({"content":[{"type":"image","data":"iVAACg==","mimeType":"image/png"}]})json");
  EXPECT_EQ(result_of(tool_with(R"json("content_type":"audio/wav")json"), "a"),
            R"json({"content":[{"type":"audio","data":"YQ==","mimeType":"audio/wav"}]})json");
  EXPECT_EQ(result_of(tool_with(R"json("content_type":"text/plain")json"), "a"), text("a"));
  EXPECT_EQ(result_of(tool_with(R"json("content_type":"imagery")json"), "a"), text("a"));
}

TEST(CallResultTest, ANulBehindAnObjectMakesItText) {
  EXPECT_EQ(result_of(std::string_view("{\"a\":1}\0}", 9)).find("structuredContent"),
            std::string::npos);
}

TEST(CallResultTest, EmptyOutputIsNotAnImage) {
  EXPECT_EQ(result_of(tool_with(R"json("content_type":"image/png")json"), ""), text(""));
}

TEST(CallResultTest, AnImageHasABound) {
  const CliTool tool = tool_with(R"json("content_type":"image/png")json");
  EXPECT_THAT(result_of(tool, std::string(limits::kRunOutputMax, 'x')),
              StartsWith(R"json({"content":[{"type":"image")json"));
  EXPECT_EQ(
      result_of(tool, std::string(limits::kRunOutputMax + 1, 'x')),
      R"json({"content":[{"type":"text","text":"[mcp-sitter] the command of `add` has written 1048577 bytes, and an image result may have at most 1048576"}],"isError":true})json");
}

constexpr const char* kHasCount =
    R"json("outputSchema":{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]})json";

TEST(CallResultTest, WhatDoesNotFitTheOutputSchemaIsAnErrorThatNamesTheMember) {
  const CliTool tool = tool_with(kHasCount);
  EXPECT_THAT(result_of(tool, R"json({"count":1})json"),
              EndsWith(R"json("structuredContent":{"count":1}})json"));
  EXPECT_EQ(
      result_of(tool, R"json({"count":"x"})json"),
      R"json({"content":[{"type":"text","text":"{\"count\":\"x\"}"},{"type":"text","text":"[mcp-sitter] the command of `add` has written an object that does not fit its outputSchema: `count` is not of type integer; this part of the schema says {\"type\":\"integer\"}"}],"isError":true})json");
  EXPECT_THAT(result_of(tool, "{}"),
              AllOf(HasSubstr("does not fit its outputSchema: it has no member `count`"),
                    HasSubstr("\"isError\":true")));
  // Without an outputSchema nothing is promised.
  EXPECT_THAT(result_of(R"json({"count":"x"})json"), Not(HasSubstr("isError")));
}

TEST(CallResultTest, ATextWhereTheOutputSchemaPromisesAnObjectIsAnError) {
  const CliTool tool = tool_with(kHasCount);
  EXPECT_EQ(
      result_of(tool, "one"),
      R"json({"content":[{"type":"text","text":"one"},{"type":"text","text":"[mcp-sitter] the command of `add` has written no JSON object to its stdout, and its outputSchema promises an object"}],"isError":true})json");
  EXPECT_THAT(result_of(tool, ""),
              StartsWith(R"json({"content":[{"type":"text","text":"[mcp-sitter])json"));
  EXPECT_THAT(result_of(tool, "[{\"count\":1}]"), HasSubstr("written no JSON object"));
  EXPECT_THAT(result_of(tool, "{\"count\":1}" + std::string(limits::kRunOutputMax, ' ')),
              HasSubstr("has written 1048587 bytes to its stdout, more than the 1048576 that are "
                        "read, and its outputSchema promises an object"));
}

TEST(CallResultTest, ChecksAResultOfTheToolAgainstTheOutputSchemaToo) {
  const CliTool tool = tool_with(kHasCount);
  const std::string good = R"json({"content":[],"structuredContent":{"count":1}})json";
  EXPECT_EQ(result_of(tool, good), good);
  EXPECT_THAT(result_of(tool, R"json({"content":[],"structuredContent":{"count":null}})json"),
              HasSubstr("`count` is not of type integer"));
  EXPECT_THAT(result_of(tool, R"json({"content":[]})json"),
              HasSubstr("has written a result without structuredContent, and its outputSchema "
                        "promises an object"));
  // An error promises nothing.
  const std::string error = R"json({"content":[],"isError":true})json";
  EXPECT_EQ(result_of(tool, error), error);
}

TEST(CallResultTest, AFailureShowsBothOutputsAndTheStatusByName) {
  EXPECT_EQ(
      result_of("half\n", {.code = 3, .error_lines = {"a \"b\"", "c"}}),
      R"json({"content":[{"type":"text","text":"half\n"},{"type":"text","text":"[mcp-sitter] the command of `add` has failed: exit 3; its stderr says:\na \"b\"\nc"}],"isError":true})json");
  EXPECT_EQ(
      result_of("", {.code = 255}),
      R"json({"content":[{"type":"text","text":"[mcp-sitter] the command of `add` has failed: exit 255"}],"isError":true})json");
  EXPECT_THAT(result_of("", {139, "SIGSEGV"}), HasSubstr("has failed: SIGSEGV\""));
  EXPECT_THAT(result_of("", {137, "SIGKILL"}),
              HasSubstr("has failed: SIGKILL, from outside or out of memory"));
  // What a failed command writes is no result.
  EXPECT_THAT(result_of(R"json({"content":[]})json", {.code = 1}),
              StartsWith(R"json({"content":[{"type":"text","text":"{\"content\":[]}"},)json"));
  EXPECT_THAT(result_of(tool_with(R"json("content_type":"image/png")json"), "\xff", {.code = 1}),
              StartsWith("{\"content\":[{\"type\":\"text\",\"text\":\"\xef\xbf\xbd\"}"));
}

TEST(CallResultTest, AnExitCodeMayBeNoFailure) {
  const CliTool tool = tool_with(R"json("ok_exit_codes":[1,255])json");
  for (const int code : {0, 1, 255}) {
    EXPECT_EQ(result_of(tool, "a", {.code = code, .error_lines = {"warning"}}), text("a")) << code;
  }
  EXPECT_THAT(result_of(tool, "a", {.code = 2}), HasSubstr("has failed: exit 2"));
  // A signal is a failure, whatever a shell would report.
  const CliTool after_signal = tool_with(R"json("ok_exit_codes":[143])json");
  EXPECT_THAT(result_of(after_signal, "a", {143, "SIGTERM"}), HasSubstr("has failed: SIGTERM"));
  EXPECT_EQ(result_of(after_signal, "a", {.code = 143}), text("a"));
}

TEST(CallResultTest, ARunThatWasEndedSaysWhy) {
  EXPECT_EQ(
      result_of("half", {.error_lines = {"slow"}, .stopped = "was ended after 1 s"}),
      R"json({"content":[{"type":"text","text":"half"},{"type":"text","text":"[mcp-sitter] the command of `add` was ended after 1 s; its stderr says:\nslow"}],"isError":true})json");
}

constexpr std::size_t kEnd = limits::kRunOutputMax / 2;

KeptOutput output(std::string_view bytes) {
  KeptOutput made;
  made.add(bytes);
  return made;
}

std::string left_out(std::size_t bytes) {
  return "\n[" + std::to_string(bytes) + " bytes are left out here]\n";
}

TEST(KeptOutputTest, KeepsOutputWithinTheLimitWhole) {
  EXPECT_TRUE(KeptOutput().is_whole());
  EXPECT_EQ(KeptOutput().text(), "");
  const std::string most(limits::kRunOutputMax, 'x');
  const KeptOutput kept = output(most);
  EXPECT_TRUE(kept.is_whole());
  EXPECT_EQ(kept.size(), limits::kRunOutputMax);
  EXPECT_EQ(kept.bytes(), most);
  EXPECT_EQ(kept.text(), most);
}

TEST(KeptOutputTest, KeepsBothEndsOfLongOutputAndCountsTheMiddle) {
  const std::string head(kEnd, 'a');
  const std::string end(kEnd, 'z');
  const KeptOutput one_more = output(head + "m" + end);
  EXPECT_FALSE(one_more.is_whole());
  EXPECT_EQ(one_more.size(), limits::kRunOutputMax + 1);
  EXPECT_EQ(one_more.text(), head + left_out(1) + end);
  EXPECT_EQ(output(head + std::string(5'000'000, 'm') + end).text(),
            head + left_out(5'000'000) + end);
}

TEST(KeptOutputTest, TheSizesOfTheReadsDoNotMatter) {
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
