#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;

constexpr std::size_t kDepth = 100'000;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

void expect_still_works(ScriptedClient& client) {
  EXPECT_THAT(client.text_of_call("echo", {{"text", "still here"}}), HasSubstr("still here"));
}

struct BadLine {
  std::string what;
  std::string line;
  int code;

  friend void PrintTo(const BadLine& bad, std::ostream* out) { *out << bad.what; }
};

class BadClientLine : public ::testing::TestWithParam<BadLine> {};

TEST_P(BadClientLine, WithoutAnIdIsAnsweredWithoutOne) {
  ScriptedClient client;
  client.open();
  client.send(GetParam().line);
  const Json error = client.error_without_id();
  EXPECT_FALSE(error.contains("id"));
  EXPECT_EQ(error["error"]["code"], GetParam().code) << error.dump();
  EXPECT_EQ(client.child_state()["badLines"], 0);
  expect_still_works(client);
}

TEST_P(BadClientLine, WithoutAnIdIsAnsweredWithNullInOlderRevisions) {
  ScriptedClient client;
  client.open("2025-06-18");
  client.send(GetParam().line);
  const Json error = client.error_without_id();
  EXPECT_TRUE(error.contains("id"));
  EXPECT_EQ(error["error"]["code"], GetParam().code) << error.dump();
  expect_still_works(client);
}

INSTANTIATE_TEST_SUITE_P(
    , BadClientLine,
    ::testing::Values(BadLine{"Rubbish", "hello?", kParseError},
                      BadLine{"Truncated", R"json({"jsonrpc":"2.0","method":"x)json", kParseError},
                      BadLine{"EmptyArray", "[]", kInvalidRequest},
                      BadLine{"Batch", R"json([{"jsonrpc":"2.0","id":1,"method":"ping"}])json",
                              kInvalidRequest},
                      BadLine{"Scalar", "42", kInvalidRequest},
                      BadLine{"EmptyObject", "{}", kInvalidRequest}),
    [](const auto& one) { return one.param.what; });

class BadClientRequest : public ::testing::TestWithParam<BadLine> {};

TEST_P(BadClientRequest, IsAnsweredWithItsId) {
  ScriptedClient client;
  client.open();
  client.owe(7);
  client.send(GetParam().line);
  EXPECT_EQ(client.answer(7)["error"]["code"], GetParam().code);
  EXPECT_EQ(client.child_state()["badLines"], 0);
  expect_still_works(client);
}

INSTANTIATE_TEST_SUITE_P(
    , BadClientRequest,
    ::testing::Values(
        BadLine{"TrailingComma", R"json({"jsonrpc":"2.0","id":7,"method":"ping",})json",
                kParseError},
        BadLine{"Truncated", R"json({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{)json",
                kParseError},
        BadLine{"MethodThatIsNoString", R"json({"jsonrpc":"2.0","id":7,"method":5})json",
                kInvalidRequest},
        BadLine{
            "InvalidUtf8",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"x\":\"\xC0\xFF\"}}",
            kParseError}),
    [](const auto& one) { return one.param.what; });

TEST(BadInput, StreamThatBeginsInUtf16IsNotReadAsUtf16) {
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"}) {
    ScriptedClient client;
    client.send(mark);
    EXPECT_EQ(client.error_without_id()["error"]["code"], kParseError);
    client.open();
    expect_still_works(client);
  }
}

TEST(BadInput, ByteOrderMarkAndBlankLinesOfTheClientAreSkipped) {
  ScriptedClient client;
  client.program().write("\xEF\xBB\xBF\n\n \r\n");
  client.open();
  client.send("");
  expect_still_works(client);
  EXPECT_FALSE(client.has_heard("error"));
}

TEST(BadInput, OddButValidLinesOfTheClientPass) {
  ScriptedClient client;
  client.open();
  for (int id = 1; id <= 3; ++id) client.owe(id);
  client.send(
      R"json({"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"echo","arguments":{"text":"twice"}}})json");
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("twice"));
  client.send("{\"jsonrpc\":\"2.0\",\r\"id\":2,\"method\":\"ping\"}");
  EXPECT_TRUE(client.answer(2).contains("result"));
  client.send(
      R"json({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"}}})json");
  EXPECT_THAT(client.program().read_line().value_or(""), HasSubstr(R"json(\ud800)json"));
}

TEST(BadInput, DeepNestingOfTheClientPasses) {
  ScriptedClient client;
  client.open();
  const std::string deep = nested(kDepth);
  client.send(
      R"json({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"meta","arguments":{"x":)json" +
      deep + "}}}");
  const std::string line = client.program().read_line().value_or("");
  EXPECT_NE(line.find(deep), std::string::npos);
  EXPECT_NE(line.find("\"result\""), std::string::npos);
}

TEST(BadInput, UnknownArgumentOfABuiltInToolIsNamed) {
  ScriptedClient client;
  client.open();
  for (const std::string tool : {"sitter_kill", "sitter_child_stderr"}) {
    const Json result = client.result_of(tool, {{"colour", "red"}});
    EXPECT_EQ(result["isError"], true) << tool;
    EXPECT_THAT(text_of(result), HasSubstr("colour"));
  }
  EXPECT_EQ(client.status()["childAlive"], true);
  EXPECT_THAT(text_of(client.result_of("sitter_child_stderr", {{"lines", "many"}})),
              HasSubstr("lines"));
  EXPECT_THAT(text_of(client.result_of("sitter_child_stderr", {{"grep", "("}})), HasSubstr("grep"));
}

TEST(BadInput, TheSameIdTwiceGetsTwoAnswers) {
  ScriptedClient client;
  client.open();
  client.call(1, "sleep", {{"ms", 20}});
  client.call(1, "echo");
  client.answer(1);
  client.answer(1);
  client.call(2, "hang");
  client.call(2, "hang");
  client.text_of_call("sitter_kill");
  client.answer(2);
  client.answer(2);
}

TEST(BadInput, RequestsBeforeTheOpeningAreAnsweredAndNotPassedOn) {
  ScriptedClient client;
  client.request(1, "ping");
  client.request(2, "tools/list");
  client.call(3, "echo");
  EXPECT_EQ(client.answer(1)["result"], Json::object());
  EXPECT_EQ(client.answer(2)["error"]["code"], kInvalidRequest);
  EXPECT_EQ(client.answer(3)["error"]["code"], kInvalidRequest);
  EXPECT_EQ(client.status()["childState"], "not-started");
  client.open();
  EXPECT_EQ(client.child_state()["methods"][0], "initialize");
}

TEST(BadInput, EndInTheMiddleOfALineIsAnswered) {
  ScriptedClient client;
  client.open();
  client.owe(9);
  client.program().write(R"json({"jsonrpc":"2.0","id":9,"method":"tools/ca)json");
  client.program().close_input();
  EXPECT_EQ(client.answer(9)["error"]["code"], kParseError);
  EXPECT_EQ(client.program().wait(), 0);
}

TEST(BadInput, LastLineNeedsNoEnd) {
  ScriptedClient client;
  client.open();
  client.owe(9);
  client.program().write(R"json({"jsonrpc":"2.0","id":9,"method":"ping"})json");
  client.program().close_input();
  EXPECT_TRUE(client.answer(9).contains("result"));
  EXPECT_EQ(client.program().wait(), 0);
}

/// Answers that are not correct but can be understood.
class OddChild : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(OddChild, IsUnderstood) {
  ScriptedClient client({.command = fake(GetParam())});
  EXPECT_EQ(client.open()["serverInfo"]["name"], "fake-mcp");
  for (int id = 1; id <= 4; ++id) client.owe(id);
  client.program().write(
      R"json({"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"two"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"three"}}}
{"jsonrpc":"2.0","id":4,"method":"ping"}
)json");
  EXPECT_GT(client.answer(1)["result"]["tools"].size(), 4);
  EXPECT_THAT(text_of(client.answer(2)["result"]), EndsWith("two"));
  EXPECT_EQ(text_of(client.answer(3)["result"]), "three");
  client.answer(4);
  client.text_of_call("sitter_kill");
  EXPECT_THAT(client.text_of_call("echo", {{"text", "again"}}), HasSubstr("\nagain"));
}

INSTANTIATE_TEST_SUITE_P(
    , OddChild,
    ::testing::Values(std::vector<std::string>{"--prefix-answers", "INFO answering: "},
                      std::vector<std::string>{"--two-per-line"},
                      std::vector<std::string>{"--answer-as-array"},
                      std::vector<std::string>{"--crlf", "--bom", "--blank-lines"},
                      std::vector<std::string>{"--id-last"},
                      std::vector<std::string>{"--stdout-at-start", "Server is starting..."},
                      std::vector<std::string>{"--stdout-at-start", "\xFF\xFE"},
                      std::vector<std::string>{"--stdout-at-start",
                                               R"json({"level":"info","msg":"up"})json"}),
    [](const auto& one) {
      std::string name;
      for (const char c : one.param.front() + std::to_string(one.index)) {
        if (c != '-') name += c;
      }
      return name;
    });

TEST(BadInput, RubbishOnStdoutIsKeptAndTold) {
  ScriptedClient client;
  client.open();
  EXPECT_THAT(client.text_of_call("print", {{"text", "debug: x = 5"}}), HasSubstr("debug: x = 5"));
  client.text_of_call("print", {{"text", R"json({"level":"info"})json"}});
  EXPECT_THAT(client.text_of_call("sitter_child_stderr"),
              AllOf(HasSubstr("[stdout] debug: x = 5"), HasSubstr(R"json({"level":"info"})json")));
  EXPECT_EQ(client.status()["stdoutPollution"]["lines"], 2);
}

TEST(BadInput, InvalidUtf8OfTheChildIsAnsweredWithWhatIsWrong) {
  ScriptedClient client({.command = fake({"--invalid-utf8"})});
  client.open();
  const Json result = client.result_of("echo", {{"text", "x"}});
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), AllOf(HasSubstr("could not be read"), HasSubstr("UTF-8")));
  expect_still_works(client);
}

TEST(BadInput, AnswerThatIsBrokenButShowsItsIdIsAnswered) {
  ScriptedClient client(
      {.command =
           fake({"--raw-answer", R"json(custom/do={"jsonrpc":"2.0","id":%ID%,"result":{)json"})});
  client.open();
  client.request(1, "custom/do");
  EXPECT_THAT(client.answer(1)["error"]["message"], HasSubstr("could not be read"));
}

TEST(BadInput, OpeningAnsweredWithRubbishIsAFailedStart) {
  ScriptedClient client(
      {.options = {"--kill-grace", "20"},
       .command =
           fake({"--raw-answer", R"json(initialize={"jsonrpc":"2.0","id":%ID%,"result":)json"})});
  EXPECT_THAT(client.open().value("instructions", ""), HasSubstr("could not be read"));
}

TEST(BadInput, KeysThatComeTwiceInAnAnswerPass) {
  ScriptedClient client(
      {.command = fake(
           {"--raw-answer",
            R"json(custom/do={"jsonrpc":"2.0","x":1,"x":2,"id":%ID%,"result":{"y":1,"y":2}})json"})});
  client.open();
  client.send(R"json({"jsonrpc":"2.0","id":1,"method":"custom/do"})json");
  EXPECT_EQ(client.program().read_line().value_or(""),
            R"json({"jsonrpc":"2.0","x":1,"x":2,"id":1,"result":{"y":1,"y":2}})json");
}

TEST(BadInput, LoneSurrogateInTheFirstResultAfterARespawnPasses) {
  ScriptedClient client(
      {.command = fake(
           {"--raw-answer",
            R"json(tools/call={"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"\ud800"}],"content2":1,"content2":2}})json"})});
  client.open();
  client.text_of_call("sitter_kill");
  client.send(R"json({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}})json");
  const std::string line = client.program().read_line().value_or("");
  EXPECT_THAT(line,
              AllOf(HasSubstr("[mcp-sitter] server restarted"), HasSubstr(R"json(\ud800)json"),
                    HasSubstr(R"json("content2":1,"content2":2)json")));
}

TEST(BadInput, LoneSurrogateInAToolPasses) {
  TemporaryDirectory directory;
  ScriptedClient client({.command = fake({"--tools", directory.write("tools.json", R"json([
         {"name":"odd","description":"\ud800","inputSchema":{"type":"object"}}])json")})});
  client.open();
  client.send(R"json({"jsonrpc":"2.0","id":1,"method":"tools/list"})json");
  EXPECT_THAT(client.program().read_line().value_or(""),
              AllOf(HasSubstr(R"json(\ud800)json"), HasSubstr("sitter_status")));
  client.text_of_call("sitter_kill");
  expect_still_works(client);
}

TEST(BadInput, DeepNestingOfAToolPassesAndIsCompared) {
  TemporaryDirectory directory;
  const auto tools = [](const std::string& deep) {
    return R"json([{"name":"deep","inputSchema":{"type":"object","properties":{"x":)json" + deep +
           "}}}]";
  };
  const std::string file = directory.write("tools.json", tools(nested(kDepth)));
  ScriptedClient client({.command = fake({"--tools", file})});
  client.open();
  client.send(R"json({"jsonrpc":"2.0","id":1,"method":"tools/list"})json");
  const std::string line = client.program().read_line().value_or("");
  EXPECT_NE(line.find(nested(kDepth)), std::string::npos);
  EXPECT_NE(line.find("sitter_status"), std::string::npos);
  client.text_of_call("sitter_kill");
  directory.write("tools.json", tools(nested(kDepth + 1)));
  expect_still_works(client);
  EXPECT_TRUE(client.has_heard("notifications/tools/list_changed"));
}

TEST(BadInput, DeepNestingInANotificationPasses) {
  ScriptedClient client;
  client.open();
  client.send(
      R"json({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notify","arguments":{"method":"x/y","params":{"x":)json" +
      nested(kDepth) + "}}}}");
  const std::string line = client.program().read_line().value_or("");
  EXPECT_NE(line.find(nested(kDepth)), std::string::npos);
}

}  // namespace
}  // namespace sitter::testing
