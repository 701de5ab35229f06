#include "support/respawn_script.hpp"

namespace sitter {
namespace {

class BridgeRespawnTest : public RespawnTest {
 protected:
  static std::string replayed(const std::string& id = "#2") {
    return request(id, "initialize",
                   R"json({"protocolVersion":"2025-11-25","capabilities":{},)json"
                   R"json("clientInfo":{"name":"story","version":"1"}})json");
  }
};

TEST_F(BridgeRespawnTest, ADeadChildStaysDown) {
  open_session();
  dies(1, 3);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1"));
  time_passes(seconds(600));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeRespawnTest, PingsAndNotificationsDoNotStartTheChild) {
  // Otherwise chatter would start the child in the middle of a build.
  open_session();
  child(1, request(0, "roots/list"));
  down();
  client(request(1, "ping"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  client(cancelled(1));
  client(notification("notifications/roots/list_changed"));
  client(notification("notifications/vendor"));
  client(initialized());
  client(result(1, R"json({"roots":[]})json"));
  client(progress(1, 1));
  EXPECT_THAT(done(), IsEmpty());
  for (const std::string tool : {"sitter_status", "sitter_binary_info", "sitter_child_stderr"}) {
    client(call(2, tool));
    EXPECT_THAT(done(), SizeIs(1));
  }
  client("{}");
  EXPECT_THAT(done(), ElementsAre(HasSubstr("-32600")));
}

TEST_F(BridgeRespawnTest, AnyOtherRequestStartsTheChild) {
  open_session();
  down();
  Generation gen = 1;
  for (const std::string method : {"tools/call", "tools/list", "prompts/get", "resources/read",
                                   "completion/complete", "logging/setLevel", "vendor/x"}) {
    ++gen;
    client(request(gen, method));
    EXPECT_THAT(done(), Contains("start " + std::to_string(gen))) << method;
    opens(gen);
    child(gen, result(gen));
    dies(gen, 0);
    done();
  }
}

TEST_F(BridgeRespawnTest, TheWholeRespawnInOrder) {
  server.capabilities =
      R"json({"tools":{},"logging":{},"prompts":{},"resources":{"subscribe":true}})json";
  open_session();
  client(request(1, "logging/setLevel", R"json({"level":"debug"})json"));
  child(1, result(1));
  client(request(2, "resources/subscribe", R"json({"uri":"a:1"})json"));
  child(1, result(2));
  client(request(3, "resources/subscribe", R"json({"uri":"a:2"})json"));
  child(1, result(3));
  client(request(4, "resources/unsubscribe", R"json({"uri":"a:1"})json"));
  child(1, result(4));
  client(request(5, "resources/subscribe", R"json({"uri":"a:refused"})json"));
  child(1, error(5, -32002, "no"));
  down();

  client(call(6, "echo"));
  client(notification("notifications/vendor"));
  client(request(7, "vendor/x"));
  EXPECT_THAT(done(), ElementsAre("start 2", "child 2 " + replayed("#4")));
  child(2, result("#4", server.opening()));
  EXPECT_THAT(
      done(),
      ElementsAre("child 2 " + initialized(),
                  "child 2 " + request("#5", "logging/setLevel", R"json({"level":"debug"})json"),
                  "child 2 " + request("#6", "resources/subscribe", R"json({"uri":"a:2"})json"),
                  "child 2 " + request("#7", "tools/list", "{}"),
                  "child 2 " + request("#8", "prompts/list", "{}"),
                  "child 2 " + request("#9", "resources/list", "{}")));
  child(2, result("#7", Server::list("tools", {tool("echo"), tool("more")})));
  child(2, result("#8", Server::list("prompts", {})));
  child(2, result("#9", Server::list("resources", {})));
  child(2, result("#5"));
  EXPECT_THAT(done(), IsEmpty());
  child(2, result("#6"));
  EXPECT_THAT(done(), ElementsAre("client " + notification("notifications/tools/list_changed"),
                                  "client " + notification("notifications/resources/updated",
                                                           R"json({"uri":"a:2"})json"),
                                  "child 2 " + call(6, "echo"),
                                  "child 2 " + notification("notifications/vendor"),
                                  "child 2 " + request(7, "vendor/x")));
  child(2, result(6));
  child(2, result(7));
}

TEST_F(BridgeRespawnTest, TheReplayAsksForTheNegotiatedVersion) {
  server.protocol_version = "2025-06-18";
  call_while_down();
  EXPECT_THAT(done(),
              ElementsAre("start 2", HasSubstr(R"json("protocolVersion":"2025-06-18")json")));
  opens(2);
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, TheRequestThatStartsAChildCountsAsInitialized) {
  client(initialize(0));
  opens(1);
  dies(1, 0);
  client(request(1, "vendor/x"));
  done();
  child(2, result("#1", server.opening()));
  EXPECT_THAT(done(), ElementsAre("child 2 " + initialized(), HasSubstr("tools/list")));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + request(1, "vendor/x")));
  client(initialized());
  EXPECT_THAT(done(), IsEmpty());
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, ALevelIsNotToldToAChildWithoutLogging) {
  server.capabilities = R"json({"tools":{},"logging":{}})json";
  open_session();
  client(request(1, "logging/setLevel", R"json({"level":"debug"})json"));
  child(1, result(1));
  down();
  server.capabilities = R"json({"tools":{}})json";
  client(call(2, "echo"));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("logging/setLevel"))));
  child(2, result(2));
}

TEST_F(BridgeRespawnTest, ASubscriptionThatTheChildRefusesIsNamedAndForgotten) {
  server.capabilities = R"json({"tools":{},"resources":{"subscribe":true}})json";
  open_session();
  client(request(1, "resources/subscribe", R"json({"uri":"a:1"})json"));
  child(1, result(1));
  down();
  client(call(2, "echo"));
  child(2, result("#3", server.opening()));
  child(2, error("#4", -32002, "no such resource"));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("resources/updated"))));
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("resource subscriptions refused by the server: a:1"));
  dies(2, 0);
  client(call(3, "echo"));
  opens(3);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("resources/subscribe"))));
  child(3, result(3));
}

TEST_F(BridgeRespawnTest, ASubscriptionIsNotToldToAChildThatHasNone) {
  server.capabilities = R"json({"tools":{},"resources":{"subscribe":true}})json";
  open_session();
  client(request(1, "resources/subscribe", R"json({"uri":"a:1"})json"));
  child(1, result(1));
  down();
  server.capabilities = R"json({"tools":{},"resources":{}})json";
  client(call(2, "echo"));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("resources/subscribe"))));
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("a:1"));
}

TEST_F(BridgeRespawnTest, ASilentSubscriptionDelaysTheRespawnForABoundedTime) {
  server.capabilities = R"json({"resources":{"subscribe":true}})json";
  open_session();
  client(request(1, "resources/subscribe", R"json({"uri":"a:1"})json"));
  child(1, result(1));
  down();
  client(request(2, "vendor/x"));
  child(2, result("#2", server.opening()));
  child(2, result("#4", Server::list("resources", {})));
  done();
  time_passes(milliseconds(1999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("child 2 " + request(2, "vendor/x")));
  child(2, result(2));
}

TEST_F(BridgeRespawnTest, AQuestionOfTheRespawnedChildPassesBeforeItsListsAreThere) {
  // A respawned child asks roots/list before it answers tools/list.
  call_while_down();
  child(2, result("#2", server.opening()));
  done();
  child(2, request(0, "roots/list"));
  EXPECT_THAT(done(), ElementsAre("client " + request(1, "roots/list")));
  client(result(1, R"json({"roots":[]})json"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + result(0, R"json({"roots":[]})json")));
  child(2, result("#3", Server::list("tools", server.tools)));
  EXPECT_THAT(done(), ElementsAre("child 2 " + call(1, "echo")));
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, ALateListJoinsTheNoticeThatHasNotLeft) {
  call_while_down();
  child(2, result("#2", server.opening()));
  time_passes(seconds(2));
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "echo")));
  child(2, result("#3", Server::list("tools", {})));
  EXPECT_THAT(done(), ElementsAre("client " + notification("notifications/tools/list_changed")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("-1 removed (echo)"), Not(HasSubstr("not compared"))));
}

TEST_F(BridgeRespawnTest, AListThatComesAfterTheNoticeIsAnnouncedAndToldNext) {
  call_while_down();
  child(2, result("#2", server.opening()));
  time_passes(seconds(2));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted"));
  child(2, result("#3", Server::list("tools", {})));
  EXPECT_THAT(done(), ElementsAre("client " + notification("notifications/tools/list_changed")));
  for (const int id : {2, 3}) {
    client(call(id, "echo"));
    child(2, result(id, text_result("x")));
    EXPECT_EQ(answer_text(), id == 2 ? "[mcp-sitter] tools: -1 removed (echo)" : "x");
  }
}

TEST_F(BridgeRespawnTest, WhatIsRegisteredAfterTheNoticeIsToldToBeBack) {
  const auto tools = server.tools;
  server.tools = {};
  for (const Generation gen : {2, 3}) {
    SCOPED_TRACE(gen);
    if (gen == 2) {
      server.tools = tools;
      open_session();
      server.tools = {};
    }
    dies(gen - 1, 0);
    client(call(10 * gen, "echo"));
    opens(gen);
    child(gen, result(10 * gen, text_result("x")));
    time_passes(milliseconds(5));
    EXPECT_THAT(client_got(), Contains(HasSubstr("-1 removed (echo)")));
    child(gen, notification("notifications/tools/list_changed"));
    child(gen, result(gen == 2 ? "#4" : "#7", Server::list("tools", tools)));
    done();
    client(call(10 * gen + 1, "echo"));
    child(gen, result(10 * gen + 1, text_result("x")));
    EXPECT_EQ(answer_text(), "[mcp-sitter] tools: +1 back (echo)");
  }
}

TEST_F(BridgeRespawnTest, MessagesOfTheRespawnedChildPassAtOnce) {
  call_while_down();
  done();
  const std::string message = notification("notifications/message", R"json({"data":"up"})json");
  child(2, message);
  EXPECT_THAT(done(), ElementsAre("client " + message));
  opens(2);
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, ARespawnedChildThatIsSlowServes) {
  // The child needs more than 15 s to answer initialize.
  call_while_down();
  time_passes(seconds(20));
  opens(2);
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("startup 20s")));
}

TEST_F(BridgeRespawnTest, AcceptsAndReportsAnotherLegacyVersion) {
  open_session();
  down();
  server.protocol_version = "2024-11-05";
  client(call(1, "echo"));
  opens(2);
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("protocol version: 2025-11-25 -> 2024-11-05")));
  client(call(2, "sitter_status"));
  const auto status = nlohmann::json::parse(answer_text());
  EXPECT_EQ(status["protocolVersion"], "2025-11-25");
  EXPECT_EQ(status["childProtocolVersion"], "2024-11-05");
}

TEST_F(BridgeRespawnTest, TheNextChildGetsInitializedAsTheClientHasWrittenIt) {
  const std::string line =
      R"json({ "method":"notifications/initialized","params":{"_meta":{"x":1.0}},"jsonrpc":"2.0"})json";
  client(initialize(0));
  opens(1);
  client(line);
  opens(1);
  down();
  client(request(1, "vendor/x"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + line));
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, InitializedThatComesDuringTheReplayIsSentOnce) {
  client(initialize(0));
  opens(1);
  dies(1, 0);
  client(request(1, "vendor/x"));
  client(initialized());
  opens(2);
  const auto got = done();
  EXPECT_EQ(std::count(got.begin(), got.end(), "child 2 " + initialized()), 1);
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, TheLastLevelThatTheChildTookIsToldToTheNext) {
  server.capabilities = R"json({"tools":{},"logging":{}})json";
  open_session();
  client(request(1, "logging/setLevel", R"json({"level":"debug"})json"));
  child(1, result(1));
  client(request(2, "logging/setLevel", R"json({"level":"error"})json"));
  child(1, result(2));
  client(request(3, "logging/setLevel", R"json({"level":"loud"})json"));
  child(1, error(3, -32602, "no such level"));
  down();
  client(request(4, "vendor/x"));
  opens(2);
  const auto got = done();
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("logging/setLevel"),
                                  HasSubstr(R"json({"level":"error"})json"))));
  EXPECT_THAT(got, Not(Contains(HasSubstr("debug"))));
  EXPECT_THAT(got, Not(Contains(HasSubstr("loud"))));
  child(2, result(4));
}

TEST_F(BridgeRespawnTest, NoLevelIsToldThatTheClientHasNeverSet) {
  server.capabilities = R"json({"tools":{},"logging":{}})json";
  open_session();
  down();
  client(request(1, "vendor/x"));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("logging/setLevel"))));
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, RootsThatChangedMeanwhileAreNotToldToAChildThatAsksForThemAnew) {
  call_while_down();
  client(notification("notifications/roots/list_changed"));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("roots"))));
  child(2, result(1));
  done();
  client(notification("notifications/roots/list_changed"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + notification("notifications/roots/list_changed")));
}

}  // namespace
}  // namespace sitter
