#include <algorithm>

#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

/// What was in flight when its child died, and is safe to repeat.
class BridgeSentAgainTest : public BridgeTest {
 protected:
  void SetUp() override { open_session(); }
};

TEST_F(BridgeSentAgainTest, ACallThatMayHaveRunIsNeverSentAgain) {
  client(call(5, "pay"));
  client(request(6, "vendor/thing"));
  client(request(7, "tasks/cancel", R"json({"taskId":"1"})json"));
  done();
  dies(1, 3);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1", HasSubstr("\"id\":5,"),
                                  HasSubstr("\"id\":6,"), HasSubstr("\"id\":7,")));
  client(call(8, "next"));
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("child 2 " + call(8, "next")), Not(Contains(HasSubstr("pay"))),
                            Not(Contains(HasSubstr("vendor/thing"))),
                            Not(Contains(HasSubstr("tasks/cancel")))));
  child(2, result(8));
}

class BridgeRetryTest : public BridgeSentAgainTest,
                        public ::testing::WithParamInterface<std::pair<const char*, const char*>> {
};

TEST_P(BridgeRetryTest, APureReadOrASettingIsSentOnceMoreAndOnlyOnce) {
  const auto [method, params] = GetParam();
  const std::string line = request(5, method, params);
  client(line);
  EXPECT_THAT(done(), ElementsAre("child 1 " + line));
  dies(1, 3);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1", "start 2", HasSubstr("initialize")));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + line));
  dies(2, 3);
  const auto got = done();
  EXPECT_THAT(got, Contains(HasSubstr(R"json("id":5,"error":{"code":-32603)json")));
  EXPECT_THAT(got, Not(Contains(StartsWith("start"))));
}

INSTANTIATE_TEST_SUITE_P(
    All, BridgeRetryTest,
    ::testing::Values(std::pair("tools/list", ""), std::pair("prompts/list", "{}"),
                      std::pair("resources/list", R"json({"cursor":null})json"),
                      std::pair("resources/templates/list", ""),
                      std::pair("resources/read", R"json({"uri":"a:b"})json"),
                      std::pair("prompts/get", R"json({"name":"p"})json"),
                      std::pair("completion/complete", R"json({"ref":{}})json"),
                      std::pair("logging/setLevel", R"json({"level":"info"})json"),
                      std::pair("resources/subscribe", R"json({"uri":"a:b"})json"),
                      std::pair("resources/unsubscribe", R"json({"uri":"a:b"})json")));

TEST_F(BridgeSentAgainTest, AReadThatIsSentOnceMoreIsAnswered) {
  client(request(5, "resources/read", R"json({"uri":"a:b"})json"));
  dies(1, 3);
  opens(2);
  done();
  child(2, result(5, R"json({"contents":[]})json"));
  EXPECT_THAT(client_got(), ElementsAre(result(5, R"json({"contents":[]})json")));
}

TEST_F(BridgeSentAgainTest, AListWithACursorIsNotSentOnceMore) {
  client(request(5, "resources/list", R"json({"cursor":"2"})json"));
  dies(1, 3);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("-32603")));
}

TEST_F(BridgeSentAgainTest, ReadsAreSentAgainInTheirOrderAndBeforeWhatCameLater) {
  client(request(5, "prompts/get", R"json({"name":"a"})json"));
  client(request(6, "resources/read", R"json({"uri":"b"})json"));
  exits(1, 3);
  client(call(7, "echo"));
  closes_output(1);
  done();
  opens(2);
  const auto got = done();
  ASSERT_THAT(got, SizeIs(5));
  EXPECT_THAT(got[2], HasSubstr("\"id\":5"));
  EXPECT_THAT(got[3], HasSubstr("\"id\":6"));
  EXPECT_THAT(got[4], HasSubstr("\"id\":7"));
  for (const int id : {5, 6, 7}) child(2, result(id));
}

TEST_F(BridgeSentAgainTest, AReadThatWasCancelledIsNotSentAgain) {
  client(request(5, "prompts/get", R"json({"name":"a"})json"));
  client(cancelled(5));
  done();
  dies(1, 3);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1"));
}

TEST_F(BridgeSentAgainTest, AReadThatWaitsToBeSentAgainCanBeCancelled) {
  client(request(5, "prompts/get", R"json({"name":"a"})json"));
  dies(1, 3);
  done();
  client(cancelled(5));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("prompts/get"))));
}

TEST_F(BridgeSentAgainTest, AReadThatIsSentAgainAsksForProgressNoMore) {
  // The values of the new child would begin again below the last value.
  client(request(5, "resources/read", R"json({"uri":"a:b","_meta":{"progressToken":5}})json"));
  child(1, progress(5, 50));
  time_passes(milliseconds(1));
  dies(1, 3);
  opens(2);
  done();
  child(2, progress(5, 10));
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(5));
  EXPECT_THAT(client_got(), ElementsAre(result(5)));
}

TEST_F(BridgeSentAgainTest, AReadWhoseNextStartFailsIsAnswered) {
  plays.start = false;
  client(request(5, "resources/read", R"json({"uri":"a:b"})json"));
  client(request(6, "tools/list"));
  dies(1, 3);
  done();
  start_fails(2, "no such file");
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("-32603"), HasSubstr("no such file")),
                                        AllOf(HasSubstr("echo"), HasSubstr("sitter_status"))));
}

TEST_F(BridgeSentAgainTest, ReadOnlyHintsDoNotMakeACallRepeatable) {
  // Such hints come from the server, so they can't be trusted.
  dies(1, 0);
  server.tools = {
      tool("read", R"json(,"annotations":{"readOnlyHint":true,"idempotentHint":true})json")};
  client(call(1, "read"));
  opens(2);
  done();
  dies(2, 3);
  EXPECT_THAT(done(),
              ElementsAre("terminate 2", "release 2", HasSubstr(R"json("isError":true)json")));
}

TEST_F(BridgeSentAgainTest, RequestsAboutTasksAreNotSentAgain) {
  int id = 4;
  for (const std::string method :
       {"tasks/get", "tasks/list", "tasks/result", "tasks/update", "tasks/cancel"}) {
    client(request(++id, method, R"json({"taskId":"1"})json"));
  }
  done();
  dies(1, 3);
  const auto got = done();
  EXPECT_THAT(got, Not(Contains("start 2")));
  EXPECT_EQ(std::count_if(got.begin(), got.end(),
                          [](const std::string& word) { return word.find("-32603") != word.npos; }),
            5);
}

TEST_F(BridgeSentAgainTest, AListThatIsSentAgainIsNotAnnouncedToo) {
  client(request(5, "tools/list"));
  dies(1, 3);
  server.tools.push_back(tool("more"));
  opens(2);
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(5, Server::list("tools", server.tools)));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"more\"")));
}

TEST_F(BridgeSentAgainTest, ProgressOfALaterRequestWithTheTokenOfOneThatWasSentAgainPasses) {
  client(request(5, "resources/read", R"json({"uri":"a:b","_meta":{"progressToken":"t"}})json"));
  dies(1, 3);
  opens(2);
  done();
  child(2, progress("\"t\"", 10));
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(5));
  client(request(6, "resources/read", R"json({"uri":"a:b","_meta":{"progressToken":"t"}})json"));
  done();
  child(2, progress("\"t\"", 1));
  EXPECT_THAT(client_got(), ElementsAre(progress("\"t\"", 1)));
  time_passes(milliseconds(1));
  child(2, result(6));
}

}  // namespace
}  // namespace sitter
