#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class BridgeRespawnTest : public BridgeTest {
 protected:
  void down() {
    dies(1, 0);
    done();
  }
  /// For stories that tell themselves how starts go.
  void open_session_with_start() {
    const bool plays_start = std::exchange(plays.start, true);
    open_session();
    plays.start = plays_start;
    down();
  }
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

TEST_F(BridgeRespawnTest, ChatterDoesNotStartTheChild) {
  // It would start the child in the middle of a build.
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
  open_session();
  down();
  client(call(1, "echo"));
  EXPECT_THAT(done(),
              ElementsAre("start 2", HasSubstr(R"json("protocolVersion":"2025-06-18")json")));
  opens(2);
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, InitializedIsNotSentBeforeTheClientHasSentIt) {
  client(initialize(0));
  opens(1);
  dies(1, 0);
  client(request(1, "vendor/x"));
  done();
  child(2, result("#1", server.opening()));
  EXPECT_THAT(done(), ElementsAre("child 2 " + request(1, "vendor/x")));
  client(initialized());
  EXPECT_THAT(done(), ElementsAre("child 2 " + initialized(), HasSubstr("tools/list")));
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
  open_session();
  down();
  client(call(1, "echo"));
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

TEST_F(BridgeRespawnTest, ALateListLeaksToNobody) {
  // A late internal answer.
  open_session();
  down();
  client(call(1, "echo"));
  child(2, result("#2", server.opening()));
  time_passes(seconds(2));
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "echo")));
  child(2, result("#3", Server::list("tools", {})));
  child(2, result("#2", server.opening()));
  EXPECT_THAT(done(), IsEmpty());
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, MessagesOfTheRespawnedChildPassAtOnce) {
  open_session();
  down();
  client(call(1, "echo"));
  done();
  const std::string message = notification("notifications/message", R"json({"data":"up"})json");
  child(2, message);
  EXPECT_THAT(done(), ElementsAre("client " + message));
  opens(2);
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, BuiltinsAreAnsweredWhileTheChildHangsInItsOpening) {
  // A respawn with a slow child.
  open_session();
  down();
  client(call(1, "echo"));
  done();
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr(R"json("childState": "running")json"),
                                   HasSubstr(R"json("requestsWaiting": 1)json")));
  client(call(3, "sitter_kill"));
  EXPECT_THAT(done(),
              ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("not delivered")), "close 2"));
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr(R"json("count": 1)json"));
}

TEST_F(BridgeRespawnTest, ARespawnedChildThatNeverAnswersIsTakenDown) {
  // A child that is slower than the limit of 0.2.0.
  open_session();
  down();
  client(call(1, "echo"));
  time_passes(seconds(20));
  done();
  time_passes(seconds(30));
  EXPECT_THAT(done(), ElementsAre("close 2"));
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr("--startup-timeout"));
}

TEST_F(BridgeRespawnTest, ARespawnedChildThatIsSlowServes) {
  // More than 15 s for initialize.
  open_session();
  down();
  client(call(1, "echo"));
  time_passes(seconds(20));
  opens(2);
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("startup 20s")));
}

TEST_F(BridgeRespawnTest, AReplayThatIsAnsweredWithAnErrorIsAFailedStart) {
  open_session();
  down();
  client(call(1, "echo"));
  child(2, error("#2", -32000, "license expired"));
  done();
  dies(2, 1);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("license expired"), HasSubstr("not delivered")));
}

TEST_F(BridgeRespawnTest, AnotherLegacyVersionIsTakenAndTold) {
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

TEST_F(BridgeRespawnTest, AnUnknownVersionIsAFailedStart) {
  open_session();
  down();
  server.protocol_version = "2026-07-28";
  client(call(1, "echo"));
  done();
  child(2, result("#2", server.opening()));
  EXPECT_THAT(done(), ElementsAre("close 2"));
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr("protocol version 2026-07-28"));
}

TEST_F(BridgeRespawnTest, ARequestThatWaitsCanBeCancelledAndIsNeverSent) {
  open_session();
  down();
  client(call(1, "echo"));
  client(call(2, "echo"));
  client(cancelled(1));
  opens(2);
  const auto got = done();
  EXPECT_THAT(got, Contains("child 2 " + call(2, "echo")));
  EXPECT_THAT(got, Not(Contains("child 2 " + call(1, "echo"))));
  EXPECT_THAT(got, Not(Contains("child 2 " + cancelled(1))));
  child(2, result(2));
}

TEST_F(BridgeRespawnTest, WhenAllThatWaitedIsCancelledTheStartGoesOn) {
  open_session();
  down();
  client(call(1, "echo"));
  client(cancelled(1));
  opens(2);
  done();
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("childState": "ready")json"));
}

TEST_F(BridgeRespawnTest, TheNumberOfRequestsThatWaitIsBounded) {
  plays.start = false;
  open_session_with_start();
  for (int id = 1; id <= 1000; ++id) client(call(id, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 2"));
  client(call(1001, "echo"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":1001,"), HasSubstr("1000 requests"))));
  start_fails(2, "no");
  EXPECT_THAT(client_got(), SizeIs(1000));
}

TEST_F(BridgeRespawnTest, RequestsOf16MiBMayWaitAndOneByteMoreIsRefused) {
  plays.start = false;
  open_session_with_start();
  const auto of_size = [](int id, std::size_t size) {
    const std::size_t empty = call(id, "echo", R"json("")json").size();
    return call(id, "echo", "\"" + std::string(size - empty, 'x') + "\"");
  };
  const std::size_t half = 8 * limits::kMiB;
  client(of_size(1, half));
  client(of_size(2, half + 1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("8388608 bytes"))));
  client(of_size(3, half));
  EXPECT_THAT(client_got(), IsEmpty());
  client(call(4, "echo"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":4,"), HasSubstr("16777216 bytes"))));
  start_fails(2, "no");
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeRespawnTest, OneRequestOfAnySizeMayWait) {
  open_session();
  down();
  const std::string big = call(1, "echo", "\"" + std::string(17 * limits::kMiB, 'x') + "\"");
  client(big);
  opens(2);
  const auto got = done();
  // A matcher would print it.
  EXPECT_EQ(std::count(got.begin(), got.end(), "child 2 " + big), 1);
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, NotificationsThatWaitLeaveRoomForRequests) {
  open_session();
  down();
  for (int n = 0; n < 2000; ++n) client(notification("notifications/vendor"));
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "echo")));
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, AFailedStartFailsWhatWaitedForIt) {
  plays.start = false;
  open_session_with_start();
  client(call(1, "echo"));
  client(request(2, "vendor/x"));
  client(request(3, "tools/list"));
  client(request(4, "prompts/list"));
  client(notification("notifications/vendor"));
  done();
  start_fails(2, "no such file or directory: server");
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(4));
  EXPECT_THAT(got[0],
              AllOf(HasSubstr(R"json("isError":true)json"),
                    HasSubstr("no such file or directory: server"), HasSubstr("not delivered")));
  EXPECT_THAT(got[1], AllOf(HasSubstr("-32603"), HasSubstr("no such file or directory: server")));
  EXPECT_THAT(got[2], AllOf(HasSubstr(R"json({"name":"echo","inputSchema":{"type":"object"}})json"),
                            HasSubstr("sitter_status")));
  EXPECT_EQ(got[3], result(4, R"json({"prompts":[]})json"));
}

TEST_F(BridgeRespawnTest, AChildThatDiesInItsOpeningNamesExitCodeAndLastWords) {
  open_session();
  down();
  client(call(1, "echo"));
  child_says(2, "SyntaxError: line 3");
  done();
  dies(2, 1);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("exit 1"), HasSubstr("SyntaxError: line 3")));
}

TEST_F(BridgeRespawnTest, AFailedStartIsTriedAgainByTheNextRequest) {
  plays.start = false;
  open_session_with_start();
  client(call(1, "echo"));
  start_fails(2, "no");
  done();
  time_passes(seconds(100));
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 3"));
  start_fails(3, "no");
}

TEST_F(BridgeRespawnTest, StartsThatFailAgainAndAgainAreKeptApart) {
  // A crash loop.
  plays.start = false;
  open_session_with_start();
  for (Generation gen = 2; gen <= 4; ++gen) {
    client(call(gen, "echo"));
    EXPECT_THAT(done(), ElementsAre("start " + std::to_string(gen)));
    start_fails(gen, "broken");
    done();
  }
  for (int id = 10; id < 60; ++id) {
    client(call(id, "echo"));
    EXPECT_THAT(done(), ElementsAre("check files",
                                    AllOf(HasSubstr("broken"), HasSubstr("none was tried now"))));
  }
  time_passes(milliseconds(999));
  client(call(60, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", HasSubstr("broken")));
  time_passes(milliseconds(1));
  client(call(61, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 5"));
  start_fails(5, "broken");
  done();
  client(call(62, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", HasSubstr("broken")));
}

TEST_F(BridgeRespawnTest, AChangedFileEndsTheBackOff) {
  plays.start = false;
  open_session_with_start();
  for (Generation gen = 2; gen <= 4; ++gen) {
    client(call(gen, "echo"));
    start_fails(gen, "broken");
  }
  done();
  files_changed = true;
  client(call(10, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", "start 5"));
  start_fails(5, "broken");
}

TEST_F(BridgeRespawnTest, ManyRequestsAreAnsweredFromOneLookAtTheFiles) {
  plays.start = plays.check = false;
  open_session_with_start();
  for (Generation gen = 2; gen <= 4; ++gen) {
    client(call(gen, "echo"));
    start_fails(gen, "broken");
  }
  done();
  client(call(10, "echo"));
  client(call(11, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files"));
  files_checked(false);
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeRespawnTest, AChildThatServesEndsTheRowOfFailures) {
  plays.start = false;
  open_session_with_start();
  for (Generation gen = 2; gen <= 4; ++gen) {
    client(call(gen, "echo"));
    start_fails(gen, "broken");
  }
  time_passes(seconds(1));
  client(call(10, "echo"));
  started(5);
  opens(5);
  child(5, result(10, text_result("x")));
  EXPECT_THAT(client_got(),
              Contains(HasSubstr("3 starts failed before this one, the last: the server could not "
                                 "be started: broken")));
  dies(5, 3);
  done();
  client(call(11, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 6"));
  start_fails(6, "broken");
}

TEST_F(BridgeRespawnTest, AListWaitsForARespawn) {
  open_session();
  down();
  client(request(1, "tools/list"));
  EXPECT_THAT(done(), ElementsAre("start 2", HasSubstr("initialize")));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + request(1, "tools/list")));
  child(2, result(1, R"json({"tools":[]})json"));
}

TEST_F(BridgeRespawnTest, AChildThatDiesWhileItsListsAreTakenIsAFailedStart) {
  open_session();
  down();
  client(call(1, "echo"));
  child(2, result("#2", server.opening()));
  done();
  dies(2, 9);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("exit 9"), HasSubstr("not delivered")));
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
  open_session();
  down();
  client(call(1, "echo"));
  client(notification("notifications/roots/list_changed"));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("roots"))));
  child(2, result(1));
  done();
  client(notification("notifications/roots/list_changed"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + notification("notifications/roots/list_changed")));
}

TEST_F(BridgeRespawnTest, AnswersAndProgressForADeadChildDoNotWaitForTheNext) {
  open_session();
  child(1, request(7, "sampling/createMessage", R"json({"_meta":{"progressToken":7}})json"));
  down();
  client(call(1, "echo"));
  client(progress(1, 10));
  client(result(1, R"json({"late":true})json"));
  opens(2);
  const auto got = done();
  EXPECT_THAT(got, Not(Contains(HasSubstr("late"))));
  EXPECT_THAT(got, Not(Contains(HasSubstr("notifications/progress"))));
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, AChildThatNowSpeaksOnlyTheStatelessRevisionIsRecognised) {
  open_session();
  down();
  server.is_stateless = true;
  client(call(1, "echo"));
  client(request(2, "vendor/x"));
  opens(2);
  dies(2, 0);
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], AllOf(HasSubstr(R"json("isError":true)json"), HasSubstr("2026-07-28"),
                            HasSubstr("reconnect"), HasSubstr("not delivered")));
  EXPECT_THAT(got[1], AllOf(HasSubstr("-32603"), HasSubstr("2026-07-28")));
  client(call(3, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr("2026-07-28"));
}

TEST_F(BridgeRespawnTest, APingIsAnsweredAtOnceWhileTheChildHangsInItsOpening) {
  open_session();
  down();
  client(call(1, "echo"));
  done();
  client(request(2, "ping"));
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
  opens(2);
  child(2, result(1));
}

TEST_F(BridgeRespawnTest, ATaskThatWaitedForAFailedStartGetsAnError) {
  plays.start = false;
  open_session_with_start();
  client(request(1, "tools/call", R"json({"name":"work","task":{"ttl":1}})json"));
  done();
  start_fails(2, "no such file");
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("error":{"code":-32603)json"),
                                              HasSubstr("no such file"))));
}

TEST_F(BridgeRespawnTest, ListsAreAnsweredWhileStartsAreKeptApart) {
  plays.start = false;
  open_session_with_start();
  for (Generation gen = 2; gen <= 4; ++gen) {
    client(call(gen, "echo"));
    start_fails(gen, "broken");
  }
  done();
  client(request(10, "tools/list"));
  EXPECT_THAT(done(),
              ElementsAre("check files", AllOf(HasSubstr("\"echo\""), HasSubstr("sitter_status"))));
}

}  // namespace
}  // namespace sitter
