#include "core/report/restart_notice.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

constexpr char kNotice[] =
    "[mcp-sitter] server restarted (spawn #2, pid 1002, startup 0s). binary v1.0.0. ";

/// Which answer carries the notice after a restart, and where.
class BridgeNoticeTest : public BridgeTest {
 protected:
  /// Opens a session whose child has died. Its successor has a call with the id 1.
  void respawn_with_call(const std::string& line = call(1, "echo")) {
    open_session();
    dies(1, 0);
    client(line);
    opens(2);
    done();
  }
  static std::string block(const std::string& text) {
    return R"json({"type":"text","text":)json" + nlohmann::json(text).dump() + "}";
  }
};

TEST_F(BridgeNoticeTest, TheFirstResultAfterARespawnCarriesTheNoticeAtItsHead) {
  respawn_with_call();
  child(
      2,
      R"json({"jsonrpc":"2.0","id":1,"result":{ "content" : [ {"type":"text","text":"x"} ], "n":1.0}})json");
  EXPECT_THAT(done(),
              ElementsAre(R"json(client {"jsonrpc":"2.0","id":1,"result":{ "content" : [)json" +
                          block(std::string(kNotice) + "previous: exit 0 after 0s.") +
                          R"json(, {"type":"text","text":"x"} ], "n":1.0}})json"));
}

TEST_F(BridgeNoticeTest, OnlyTheFirstResultHasTheNotice) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  done();
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("y")));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, text_result("y"))));
}

TEST_F(BridgeNoticeTest, AnEmptyContentGetsTheNotice) {
  respawn_with_call();
  child(2, result(1, R"json({"content":[]})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, R"json({"content":[)json" +
                                                            block(std::string(kNotice) +
                                                                  "previous: exit 0 after 0s.") +
                                                            "]}")));
}

TEST_F(BridgeNoticeTest, AnErrorResultOfTheChildGetsTheNotice) {
  respawn_with_call();
  child(2, result(1, R"json({"content":[],"isError":true})json"));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
}

TEST_F(BridgeNoticeTest, TheFirstChildCausesNoNotice) {
  open_session();
  client(call(1, "echo"));
  done();
  child(1, result(1, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, text_result("x"))));
}

TEST_F(BridgeNoticeTest, AnErrorGetsTheNoticeBehindItsMessage) {
  respawn_with_call();
  child(
      2,
      R"json({"jsonrpc":"2.0","id":1,"error":{ "message" : "Unknown tool: \u00fc" , "code":-32602.0}})json");
  EXPECT_THAT(
      done(),
      ElementsAre(
          R"json(client {"jsonrpc":"2.0","id":1,"error":{ "message" : "Unknown tool: \u00fc\n\n)json" +
          std::string(kNotice) + R"json(previous: exit 0 after 0s." , "code":-32602.0}})json"));
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, text_result("x"))));
}

TEST_F(BridgeNoticeTest, AResultThatIsNotPlainGetsNoNotice) {
  respawn_with_call();
  int id = 1;
  for (const std::string json :
       {R"json({"content":[],"resultType":"input_required"})json",
        R"json({"content":[],"task":{"taskId":"1"}})json", R"json({"task":{"taskId":"1"}})json",
        R"json({"content":"text"})json", "{}"}) {
    child(2, result(id, json));
    EXPECT_THAT(done(), ElementsAre("client " + result(id, json)));
    client(call(++id, "echo"));
    done();
  }
  child(2, result(id, R"json({"content":[],"resultType":"complete"})json"));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
}

TEST_F(BridgeNoticeTest, ACallThatAskedForATaskGetsNoNotice) {
  respawn_with_call(request(1, "tools/call", R"json({"name":"echo","task":{}})json"));
  child(2, result(1, R"json({"content":[]})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, R"json({"content":[]})json")));
}

TEST_F(BridgeNoticeTest, OtherMethodsGetNoNotice) {
  respawn_with_call(request(1, "resources/read", R"json({"uri":"a:b"})json"));
  child(2, result(1, R"json({"content":[]})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, R"json({"content":[]})json")));
}

TEST_F(BridgeNoticeTest, ABuiltInToolGetsNoNotice) {
  respawn_with_call();
  client(call(2, "sitter_child_stderr"));
  EXPECT_EQ(answer_text(), "(no child stderr in buffer)");
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted")));
}

TEST_F(BridgeNoticeTest, ACancelledCallGetsNoNotice) {
  respawn_with_call();
  client(cancelled(1));
  done();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, text_result("x"))));
}

TEST_F(BridgeNoticeTest, TheCrashReportOfTheBridgeGetsNoNotice) {
  respawn_with_call();
  dies(2, 3);
  EXPECT_THAT(answer_text(), Not(HasSubstr("server restarted")));
  client(call(2, "echo"));
  opens(3);
  child(3, result(2, text_result("x")));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("spawn #3"), HasSubstr("previous: ⚠ crashed (exit 3)"),
                                HasSubstr("2 restarts since the last notice"))));
}

TEST_F(BridgeNoticeTest, AppendsTheNoticeToStructuredContentAndRepeatsItInTheNextPlainResult) {
  const std::string structured =
      R"json({"content":[{"type":"text","text":"{}"}],"structuredContent":{}})json";
  respawn_with_call();
  child(2, result(1, structured));
  const auto first = answer()["result"]["content"];
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0]["text"], "{}");
  EXPECT_THAT(first[1]["text"].get<std::string>(), StartsWith(kNotice));
  client(call(2, "echo"));
  done();
  child(2, result(2, structured));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, structured)));
  client(call(3, "echo"));
  done();
  child(2, result(3, text_result("x")));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
  client(call(4, "echo"));
  done();
  child(2, result(4, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(4, text_result("x"))));
}

TEST_F(BridgeNoticeTest, AnAnswerWithALoneSurrogateGetsTheNotice) {
  respawn_with_call();
  child(2, result(1, R"json({"content":[{"type":"text","text":"\ud83d"}],"x":1,"x":2})json"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("server restarted"), HasSubstr(R"json("\ud83d")json"),
                                HasSubstr(R"json("x":1,"x":2)json"))));
}

TEST_F(BridgeNoticeTest, RestoresTheSpellingOfTheIdBesideTheNotice) {
  respawn_with_call(call("1.0", "echo"));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("server restarted"), HasSubstr("\"id\":1.0,"))));
}

TEST_F(BridgeNoticeTest, WithoutNoticesNothingIsAddedButChangesAreAnnounced) {
  config.writes_notices = false;
  open_session();
  dies(1, 0);
  server.tools.push_back(tool("more"));
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, text_result("x"))));
}

TEST_F(BridgeNoticeTest, ACancelledCallLeavesTheNoticeToTheNext) {
  respawn_with_call();
  client(cancelled(1));
  child(2, result(1, text_result("x")));
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("y")));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
}

TEST_F(BridgeNoticeTest, ACancellationThatCrossesTheAnswerLeavesTheNoticeToTheNext) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  const std::string told = answer_text();
  EXPECT_THAT(told, StartsWith(kNotice));
  client(cancelled(1));
  for (const int id : {2, 3}) {
    client(call(id, "echo"));
    done();
    child(2, result(id, text_result("y")));
    EXPECT_EQ(answer_text(), id == 2 ? told : "y");
  }
}

TEST_F(BridgeNoticeTest, CancellingAnAnswerWithoutTheNoticeDoesNotRepeatTheNotice) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  client(call(2, "echo"));
  child(2, result(2, text_result("y")));
  client(cancelled(2));
  done();
  client(call(3, "echo"));
  child(2, result(3, text_result("z")));
  EXPECT_THAT(client_got(), ElementsAre(result(3, text_result("z"))));
}

TEST_F(BridgeNoticeTest, AnUnreadNoticeFollowsTheNewNoticeAndIsCut) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  done();
  for (int id = 2; id <= 40; ++id) {
    client(cancelled(id - 1));
    dies(static_cast<Generation>(id), 3);
    client(call(id, "echo"));
    opens(static_cast<Generation>(id + 1));
    done();
    child(static_cast<Generation>(id + 1), result(id, text_result(std::string(900, 'x'))));
    const auto text = answer_text();
    EXPECT_THAT(text,
                StartsWith("[mcp-sitter] server restarted (spawn #" + std::to_string(id + 1)));
    EXPECT_THAT(text, HasSubstr("(spawn #" + std::to_string(id)));
    EXPECT_LE(text.size(), limits::kNoticeBytesMax + 300);
  }
}

TEST_F(BridgeNoticeTest, AToolWithAnOutputSchemaMayGetTheNotice) {
  server.tools = {tool("typed", R"json(,"outputSchema":{"type":"object"})json")};
  respawn_with_call(call(1, "typed"));
  child(2, result(1, R"json({"content":[],"structuredContent":{"x":1}})json"));
  const auto got = answer()["result"];
  EXPECT_EQ(got["structuredContent"].dump(), R"json({"x":1})json");
  EXPECT_FALSE(got.contains("_meta"));
  EXPECT_EQ(got["content"].size(), 1u);
}

}  // namespace
}  // namespace sitter
