#include "core/client/streams.hpp"
#include "sitter/limits.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

/// Faults that seeds of the simulation have found, told as scenarios.
class BridgeSeedsTest : public BridgeTest {};

TEST_F(BridgeSeedsTest, SendsNothingMoreToAChildBeingTakenDown) {
  open_session();
  client(call(1, "work"));
  child(1, request(0, "roots/list"));
  child(1, request(1, "sampling/createMessage", R"json({"_meta":{"progressToken":7}})json"));
  client(call(2, "sitter_kill"));
  done();
  client(cancelled(1));
  client(result(1, R"json({"roots":[]})json"));
  client(progress(2, 1));
  client(notification("notifications/vendor"));
  child(1, notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), ElementsAre("client " + notification("notifications/tools/list_changed")));
}

TEST_F(BridgeSeedsTest, RequestsNoFurtherPageFromAChildBeingTakenDown) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  client(call(1, "sitter_kill"));
  done();
  child(1, result("#1", R"json({"tools":[],"nextCursor":"more"})json"));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeSeedsTest, ASitterKillAfterACrashSendsNothingToTheNextChild) {
  open_session();
  client(request(1, "resources/read", R"json({"uri":"file:///a"})json"));
  exits(1, 3);
  client(call(2, "sitter_kill"));
  done();
  closes_output(1);
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("\"id\":1,\"error\"")),
                            Contains(HasSubstr("\"id\":2,\"result\"")), Not(Contains("start 2"))));
}

TEST_F(BridgeSeedsTest, ASecondSitterKillAnswersWhatHasComeSinceTheFirst) {
  open_session();
  client(call(1, "sitter_kill"));
  client(call(2, "work"));
  done();
  client(call(3, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("was not delivered"))));
  dies(1, 0);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1", "sweep auto terminate",
                                  HasSubstr("\"id\":1,"), HasSubstr("\"id\":3,")));
  time_passes(seconds(10));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeSeedsTest, AnAnswerBehindProgressThatStillWaitsGetsAWriteOfItsOwn) {
  open_session();
  client(call_with_progress(1, "a"));
  client(call_with_progress(2, "b"));
  done();
  child(1, progress(1, 1));
  child(1, result(1));
  child(1, progress(2, 1));
  child(1, result(2));
  EXPECT_THAT(client_got(), ElementsAre(progress(1, 1)));
  next_deadline_comes();
  EXPECT_THAT(client_got(), ElementsAre(result(1), progress(2, 1)));
  next_deadline_comes();
  EXPECT_THAT(client_got(), ElementsAre(result(2)));
}

TEST_F(BridgeSeedsTest, OutputIsNotHeldBackForEverByAnswersBehindTheirProgress) {
  open_session();
  for (int id = 1; id <= 200; ++id) client(call_with_progress(id, "a"));
  done();
  for (int id = 1; id <= 200; ++id) {
    child(1, progress(id, 1));
    child(1, result(id));
  }
  time_passes(milliseconds(50));
  EXPECT_THAT(client_got(), SizeIs(400));
}

TEST_F(BridgeSeedsTest, OfTwoHeldResultsTheFirstCarriesTheNotice) {
  open_listed_session();
  dies(1, 0);
  server.tools = {tool("echo", R"json(,"outputSchema":{"type":"object"})json")};
  client(call(1, "other"));
  client(call(2, "echo"));
  opens(2);
  done();
  child(2, result(1, text_result("first")));
  child(2, result(2, text_result("second")));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("first"), HasSubstr("server restarted")),
                                        result(2, text_result("second"))));
}

TEST_F(BridgeSeedsTest, ACancelledSitterKillDoesNotDelayTheEnd) {
  config.kill_grace = seconds(3);
  open_session();
  client(call(1, "sitter_kill"));
  client(cancelled(1));
  done();
  client_closes_input();
  time_passes(seconds(1));
  EXPECT_THAT(done(), ElementsAre("terminate 1", "kill 1"));
}

TEST_F(BridgeSeedsTest, NoListIsTakenBeforeTheClientHasSentInitialized) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  done();
  child(1, notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), ElementsAre("client " + notification("notifications/tools/list_changed")));
}

TEST_F(BridgeSeedsTest, WhiteSpaceBehindAResultIsNoPartOfIt) {
  client(initialize(0));
  done();
  child(1, R"json({ "jsonrpc" : "2.0", "id" : 0 , "result" : )json" + server.opening() + " }");
  const auto opening = answer();
  EXPECT_EQ(opening.size(), 3u);
  EXPECT_TRUE(opening["result"]["instructions"].is_string());
}

TEST_F(BridgeSeedsTest, AnUnreadableOpeningIsAnsweredAtOnce) {
  client(initialize(0));
  done();
  child(1, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"x\":\"\xff\"}}");
  EXPECT_THAT(done(),
              ElementsAre(AllOf(HasSubstr("\"id\":0,\"result\""),
                                HasSubstr("could not be read: the line is not valid UTF-8")),
                          "close 1"));
}

TEST_F(BridgeSeedsTest, AnOpeningThatTimesOutIsAnsweredAtOnce) {
  config.startup_timeout = seconds(3);
  client(initialize(0));
  done();
  time_passes(seconds(3));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("\"id\":0,\"result\""),
                                        HasSubstr("had not answered its opening after 3s")),
                                  "close 1"));
}

TEST_F(BridgeSeedsTest, InitializedThatCameBeforeASecondOpeningWasAnsweredCountsForTheNextChild) {
  open_session();
  client(initialize(1));
  client(initialized());
  done();
  dies(1, 3);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":1,\"result\"")));
  client(call(2, "work"));
  child(2, result("#2", server.opening()));
  EXPECT_THAT(done(), Contains("child 2 " + initialized()));
}

TEST_F(BridgeSeedsTest, ListChangedOnOneLineWithTheLastListDoesNotCostTheNotice) {
  open_session();
  dies(1, 0);
  client(call(1, "work"));
  child(2, result("#2", server.opening()));
  done();
  child(2, result("#3", Server::list("tools", server.tools)) +
               notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "work")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted (spawn #2")));
}

/// Such faults in sessions without an opening.
class BridgeStatelessSeedsTest : public BridgeTest {
 protected:
  BridgeStatelessSeedsTest() { server.is_stateless = true; }

  static std::string complete(const std::string& more = "") {
    return R"json({"resultType":"complete")json" + more + "}";
  }

  void serve_session() {
    client(enveloped_call(1, "echo"));
    opens(1);
    child(1, result(1, complete()));
    done();
  }
};

const std::string kWantsTools = R"json({"toolsListChanged":true})json";

TEST_F(BridgeStatelessSeedsTest, AStreamThatIsOpenedWhileListsAreTakenIsAskedForAfterwards) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  client(listen(7, kWantsTools));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + listen(7, kWantsTools)));
  child(2, result(2, complete()));
  time_passes(limits::kStreamAckWait);
  EXPECT_THAT(client_got(), Contains(acknowledged(7, kWantsTools)));
}

TEST_F(BridgeStatelessSeedsTest, AStreamCarriesOnlyWhatTheClientWasGranted) {
  const std::string wanted =
      R"json({"toolsListChanged":true,"resourceSubscriptions":["a:/b"]})json";
  client(listen(7, wanted));
  opens(1);
  child(1, error(7, -32601, "Method not found"));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(7, kWantsTools)));
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  opens(2);
  child(2, acknowledged(7, wanted));
  child(2, result(2, complete()));
  done();
  child(2, to_stream(7, "notifications/resources/updated", R"json("uri":"a:/b")json"));
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeStatelessSeedsTest, AChildOnItsWayOutIsNotToldThatItGrantsTooLittle) {
  client(listen(7, R"json({"resourceSubscriptions":["a:/b"]})json"));
  opens(1);
  child(1, acknowledged(7, R"json({"resourceSubscriptions":["a:/b"]})json"));
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  opens(2);
  client(call(3, "sitter_kill"));
  done();
  child(2, acknowledged(7, "{}"));
  EXPECT_THAT(done(), IsEmpty());
  dies(2, 0);
}

TEST_F(BridgeStatelessSeedsTest, ALateAnswerDoesNotMakeARefusedChildServe) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  child(2, result("#4", Server::list("tools", server.tools)));
  child(2, error("#5", -32600, "not initialized"));
  time_passes(limits::kOtherListWait);
  server.is_stateless = false;
  child(2, result("#7", server.opening()));
  child(2, error("#6", -32600, "not initialized"));
  done();
  dies(2, 0);
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("reconnect")), Not(Contains("start 3"))));
}

TEST_F(BridgeStatelessSeedsTest, AFailingSecondPageDoesNotCastDoubtOnTheEra) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  child(2, result("#4", complete(R"json(,"tools":[],"nextCursor":"c")json")));
  child(2, error("#5", -32601, "unknown"));
  child(2, error("#6", -32601, "unknown"));
  done();
  child(2, error("#7", -32603, "no database"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + enveloped_call(2, "echo")));
  child(2, result(2, complete()));
}

TEST_F(BridgeStatelessSeedsTest, TheEndOfAStreamHasTheIdAsTheClientHasSpelledIt) {
  client(listen("7.0", kWantsTools));
  opens(1);
  done();
  child(1, error(7, -32603, "full"));
  EXPECT_THAT(client_got(), ElementsAre(error("7.0", -32603, "full")));
}

TEST_F(BridgeSeedsTest, AChildThatAnswersAProbeAndDiesOfTheOpeningCannotBeStarted) {
  client(enveloped("\"p\"", "server/discover"));
  child(1, error("\"p\"", -32601, "Method not found"));
  client(initialize(0));
  done();
  dies(1, 3);
  EXPECT_THAT(done(),
              AllOf(Contains(HasSubstr(R"json("id":0,"result")json")), Not(Contains("start 2"))));
}

}  // namespace
}  // namespace sitter
