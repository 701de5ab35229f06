#include "core/base/orders.hpp"
#include "core/bridge/tools.hpp"
#include "core/child/handshake.hpp"
#include "core/wire/message.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

/// The bridge answers the opening itself, because the child is missing, slow or broken.
class BridgeOwnOpeningTest : public BridgeTest {};

TEST_F(BridgeOwnOpeningTest, AMissingCommandAtTheFirstStartIsSaidAtOnce) {
  plays.start = false;
  client(initialize(0));
  start_fails(1, "no such file or directory: server");
  const auto opening = answer();
  EXPECT_EQ(opening["result"]["protocolVersion"], "2025-11-25");
  EXPECT_EQ(opening["result"]["serverInfo"]["name"], "mcp-sitter");
  EXPECT_EQ(opening["result"]["serverInfo"]["version"], "9.9.9");
  EXPECT_EQ(opening["result"]["capabilities"].dump(),
            R"json({"completions":{},"logging":{},"prompts":{"listChanged":true},)json"
            R"json("resources":{"listChanged":true},"tools":{"listChanged":true}})json");
  EXPECT_THAT(std::string(opening["result"]["instructions"]),
              AllOf(HasSubstr("no such file or directory: server"), HasSubstr("sitter_status"),
                    HasSubstr("sitter_child_stderr")));
}

TEST_F(BridgeOwnOpeningTest, AChildThatExitsInsideInitializeIsSaidWhenItIsOver) {
  client(initialize(0));
  child_says(1, "ImportError: no module named x");
  done();
  exits(1, 7);
  EXPECT_THAT(client_got(), IsEmpty());
  closes_output(1);
  EXPECT_EQ(
      answer()["result"]["instructions"],
      "The MCP server behind mcp-sitter (server) is not available: the server could not be "
      "started: it ended (exit 7) after 0s, before it had answered its opening.\n"
      "Its last words on stderr (sitter_child_stderr shows more):\n"
      "ImportError: no module named x\n"
      "Its tools are missing until it is available. Fix the cause, and then call sitter_status: it "
      "starts the server if the server's files have changed. " +
          Tools::names({}).instructions());
}

TEST_F(BridgeOwnOpeningTest, AMendedServerIsStartedByABuiltInTool) {
  // A model that sees no tool of the server can call nothing else.
  plays.start = false;
  plays.check = false;
  client(initialize(0));
  start_fails(1, "no such file");
  client(initialized());
  done();
  client(call(1, "sitter_status"));
  EXPECT_THAT(done(), Contains("check files"));
  files_checked(false);
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "sitter_child_stderr"));
  EXPECT_THAT(done(), Contains("check files"));
  files_checked(true);
  EXPECT_THAT(done(), ElementsAre("start 2"));
  started(2);
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  dies(2, 3);
  done();
  client(call(3, "sitter_status"));
  EXPECT_THAT(done(), Not(Contains("check files")));
}

TEST_F(BridgeOwnOpeningTest, TheStatusOfAMendedServerSaysThatItIsStartingAndWhy) {
  plays.start = false;
  client(initialize(0));
  start_fails(1, "no such file");
  client(initialized());
  done();
  files_changed = true;
  client(call(1, "sitter_status"));
  EXPECT_THAT(answer_text(),
              HasSubstr("The server has been starting for 0s (spawn #2; reason: its files changed "
                        "after a failed start): wait, and its tools appear by themselves."));
}

TEST_F(BridgeOwnOpeningTest, ASlowServerIsWaitedForAndNotCalledBroken) {
  client(initialize(0));
  time_passes(seconds(8));
  EXPECT_THAT(
      answer()["result"]["instructions"].get<std::string>(),
      StartsWith("The MCP server behind mcp-sitter (server) is not ready: it is still starting "
                 "after 8s. Wait, and then call sitter_status: the server's tools appear by "
                 "themselves when it is ready. "));
  dies(1, 0);
}

TEST_F(BridgeOwnOpeningTest, TheInstructionsQuote1024BytesOfLastWordsAndNoMore) {
  const std::string words(1024, 'x');
  client(initialize(0));
  child_says(1, words);
  dies(1, 7);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("shows more):\n" + words + "\nIts tools"));
  client(initialize(1));
  child_says(2, words + "y");
  dies(2, 7);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("shows more):\n" + words + "… [1 byte cut]\nIts tools"));
}

TEST_F(BridgeOwnOpeningTest, AnErrorToInitializeIsAnsweredWithAnOpeningOfOurs) {
  client(initialize(0));
  done();
  child(1, error(0, -32000, "database is locked"));
  const auto got = done();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], AllOf(StartsWith("client "), HasSubstr("database is locked"),
                            HasSubstr(R"json("protocolVersion":"2025-11-25")json")));
  EXPECT_EQ(got[1], "close 1");
  dies(1, 0);
  client(request(1, "tools/list"));
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Contains(HasSubstr("sitter_status"))));
}

TEST_F(BridgeOwnOpeningTest, ARefusalOfAModernServerIsSaidInSoManyWords) {
  for (const int code : {-32022, -32601, -32602}) {
    Handshake handshake(
        1, [] { return std::string("1"); }, [] { return std::string(); }, "9.9.9");
    Orders out;
    handshake.open_with_clients(initialize(0), "0", out);
    MessageReader reader;
    const OwnedLine line(error(0, code, "no"));
    handshake.on_answer(*reader.read(line.line()), now, out);
    EXPECT_EQ(handshake.state(), Handshake::State::refused);
    EXPECT_THAT(handshake.refusal(), HasSubstr("2026-07-28"));
  }
  client(initialize(0));
  done();
  child(1, error(0, -32022, "Unsupported protocol version"));
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              AllOf(HasSubstr("Unsupported protocol version"), HasSubstr("2026-07-28")));
  dies(1, 0);
}

TEST_F(BridgeOwnOpeningTest, AnUnreadableAnswerToInitializeIsARefusal) {
  client(initialize(0));
  done();
  child(1, R"json({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25",})json");
  EXPECT_THAT(done(),
              ElementsAre(HasSubstr("its answer to initialize could not be read"), "close 1"));
  dies(1, 0);
}

TEST_F(BridgeOwnOpeningTest, AnOpeningThatClientsRefuseIsARefusal) {
  client(initialize(0));
  done();
  child(1, result(0, R"json({"protocolVersion":"2025-11-25","capabilities":{"tools":null},)json"
                     R"json("serverInfo":{"name":"a","version":"1"}})json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("clients refuse its answer to initialize: "
                                                  "capabilities.tools is null")));
  dies(1, 0);
}

TEST_F(BridgeOwnOpeningTest, ASlowChildIsNotWaitedForLongerThanAnswerWithin) {
  // The child never answers the first initialize.
  client(initialize(0));
  done();
  time_passes(milliseconds(7999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("still starting after 8s"));
  dies(1, 0);
}

TEST_F(BridgeOwnOpeningTest, AnswerWithinIsCountedFromTheClientsOpening) {
  plays.start = false;
  client(initialize(0));
  time_passes(seconds(5));
  started(1);
  done();
  time_passes(seconds(3));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeOwnOpeningTest, ASlowChildKeepsStartingAndBringsItsLists) {
  server.capabilities = R"json({"tools":{},"prompts":{}})json";
  server.prompts = {R"json({"name":"p"})json"};
  client(initialize(0));
  time_passes(seconds(8));
  client(initialized());
  done();
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed"),
                                        notification("notifications/prompts/list_changed")));
  client(request(1, "tools/list"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request(1, "tools/list")));
  child(1, result(1, Server::list("tools", server.tools)));
  client(request(2, "resources/list"));
  client(request(3, "resources/templates/list"));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("echo"), HasSubstr("sitter_status")),
                                        result(2, R"json({"resources":[]})json"),
                                        result(3, R"json({"resourceTemplates":[]})json")));
}

TEST_F(BridgeOwnOpeningTest, AfterAnOpeningOfOursListsNeverWaitForAStart) {
  client(initialize(0));
  time_passes(seconds(8));
  client(initialized());
  done();
  client(request(1, "prompts/list"));
  client(request(2, "tools/list"));
  EXPECT_THAT(client_got(), ElementsAre(result(1, R"json({"prompts":[]})json"),
                                        AllOf(HasSubstr("sitter_status"), Not(HasSubstr("echo")))));
  opens(1);
}

TEST_F(BridgeOwnOpeningTest, AListAfterAFailedOpeningTriesTheNextStart) {
  plays.start = false;
  client(initialize(0));
  start_fails(1, "no");
  client(initialized());
  done();
  client(request(1, "tools/list"));
  const auto got = done();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], StartsWith("client "));
  EXPECT_EQ(got[1], "start 2");
  started(2);
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
}

TEST_F(BridgeOwnOpeningTest, TheLogLevelIsRememberedWhileTheChildIsMissing) {
  plays.start = false;
  server.capabilities = R"json({"tools":{},"logging":{}})json";
  client(initialize(0));
  start_fails(1, "no");
  client(initialized());
  done();
  client(request(1, "logging/setLevel", R"json({"level":"debug"})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  plays.start = true;
  client(call(2, "echo"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " +
                               request("#2", "logging/setLevel", R"json({"level":"debug"})json")));
  child(2, result(2, text_result("x")));
}

TEST_F(BridgeOwnOpeningTest, TheLogLevelIsAnsweredForAChildWithoutLogging) {
  client(initialize(0));
  time_passes(seconds(8));
  client(initialized());
  opens(1);
  done();
  client(request(1, "logging/setLevel", R"json({"level":"debug"})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgeOwnOpeningTest, AnUnknownVersionIsAnsweredWithTheNewestOfTheHandshake) {
  plays.start = false;
  client(initialize(0, "2031-01-01"));
  start_fails(1, "no");
  EXPECT_EQ(answer()["result"]["protocolVersion"], "2025-11-25");
}

TEST_F(BridgeOwnOpeningTest, ARequestedLegacyVersionIsAnswered) {
  plays.start = false;
  client(initialize(0, "2024-11-05"));
  start_fails(1, "no");
  EXPECT_EQ(answer()["result"]["protocolVersion"], "2024-11-05");
}

TEST_F(BridgeOwnOpeningTest, WhatAChildBringsAfterAnOpeningOfOursIsToldToTheModel) {
  client(initialize(0));
  time_passes(seconds(8));
  client(initialized());
  opens(1);
  done();
  client(call(1, "echo"));
  done();
  child(1, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("tools: +1 added (echo)"));
}

class BridgeLateInstructionsTest : public BridgeTest {
 protected:
  /// The result of call `id`, which the client has sent after the bridge has answered its opening.
  std::string first_result(const std::string& instructions) {
    server.instructions = instructions;
    client(initialize(0));
    time_passes(seconds(8));
    client(initialized());
    opens(1);
    return next_result();
  }
  std::string next_result() {
    client(call(++id_, "echo"));
    done();
    child(1, result(id_, text_result("x")));
    return client_got().at(0);
  }

 private:
  int id_ = 0;
};

TEST_F(BridgeLateInstructionsTest, StandInTheFirstNoticeAndInNoOther) {
  const std::string first = first_result("Add first.\\nThen divide.");
  EXPECT_THAT(first,
              HasSubstr("\\n[mcp-sitter] The opening was answered before the server came. The "
                        "server's instructions:\\nAdd first.\\nThen divide.\"}"));
  EXPECT_EQ(next_result(), result(2, text_result("x")));
}

TEST_F(BridgeLateInstructionsTest, AreToldUpTo2048BytesAndNoMore) {
  EXPECT_THAT(first_result(std::string(2048, 'i')), HasSubstr(std::string(2048, 'i') + "\"}"));
}

TEST_F(BridgeLateInstructionsTest, AreCutAbove2048Bytes) {
  EXPECT_THAT(first_result(std::string(2049, 'i')),
              HasSubstr("\\n" + std::string(2048, 'i') + "… [1 byte cut]\"}"));
}

TEST_F(BridgeLateInstructionsTest, AreNotToldWithoutNotices) {
  config.writes_notices = false;
  EXPECT_EQ(first_result("Add first."), result(1, text_result("x")));
}

TEST_F(BridgeLateInstructionsTest, OfAServerThatHasNoneAreNotMentioned) {
  EXPECT_THAT(first_result(""), Not(HasSubstr("instructions")));
}

TEST_F(BridgeOwnOpeningTest, AChildThatNeverAnswersItsOpeningIsTakenDown) {
  client(initialize(0));
  time_passes(milliseconds(49999));
  done();
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  time_passes(milliseconds(1000));
  EXPECT_THAT(done(), ElementsAre("terminate 1", "kill 1"));
  dies(1, 137, "SIGKILL");
  EXPECT_THAT(done(), ElementsAre("kill 1", "release 1"));
}

TEST_F(BridgeOwnOpeningTest, AServerThatDoesNotWriteLinesIsToldSo) {
  const std::string rule = "and over stdio each message of MCP is one line (the first is ";
  const std::pair<std::string, std::string> rows[] = {
      {"{", "it writes JSON over several lines, " + rule + "{)"},
      {"{ ", "it writes JSON over several lines, " + rule + "{)"},
      {"{jsonrpc: 2,", "it writes JSON over several lines, " + rule + "{jsonrpc: 2,)"},
      {"Content-Length: 120",
       "it writes headers as a language server does, " + rule + "Content-Length: 120)"},
      {"content-type: x",
       "it writes headers as a language server does, " + rule + "content-type: x)"}};
  Generation gen = 1;
  for (const auto& [line, cause] : rows) {
    if (gen == 1) {
      client(initialize(0));
    } else {
      client(call(gen, "echo"));
    }
    done();
    if (gen > 1) child(gen, "Starting...");
    child(gen, line);
    auto left = config.startup_timeout;
    if (gen == 1) {
      time_passes(config.answer_within);
      left -= config.answer_within;
      EXPECT_THAT(client_got(), ElementsAre(HasSubstr(cause)));
      client(call(50, "echo"));
    }
    time_passes(left);
    dies(gen++, 0);
    EXPECT_THAT(done(), Contains(AllOf(HasSubstr("client "), HasSubstr(cause),
                                       Not(HasSubstr("more time")))));
  }
}

TEST_F(BridgeOwnOpeningTest, AServerThatEndsAfterHeadersIsToldSo) {
  client(initialize(0));
  for (const char* line : {"Content-Length: 5", ""}) child(1, line);
  dies(1, 0);
  EXPECT_THAT(client_got(),
              ElementsAre(HasSubstr("; it writes headers as a language server does")));
}

TEST_F(BridgeOwnOpeningTest, AServerThatIsTakenDownDoesNotTimeOutOnceMore) {
  config.startup_timeout = seconds(5);
  config.kill_grace = seconds(60);
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  client(call(2, "sitter_kill"));
  done();
  client(initialize(7));
  time_passes(seconds(6));
  EXPECT_THAT(client_got(), IsEmpty());
  dies(2, 0);
  opens(3);
}

TEST_F(BridgeOwnOpeningTest, ALevelThatIsSetWhileTheListsAreTakenReachesTheServer) {
  server.capabilities = R"json({"tools":{},"logging":{}})json";
  client(initialize(0));
  time_passes(config.answer_within);
  client(initialized());
  child(1, result(0, server.opening()));
  done();
  const std::string level = request(5, "logging/setLevel", R"json({"level":"debug"})json");
  client(level);
  client(notification("notifications/roots/list_changed"));
  EXPECT_THAT(done(), IsEmpty());
  opens(1);
  EXPECT_THAT(done(),
              AllOf(Contains("child 1 " + level),
                    Contains("child 1 " + notification("notifications/roots/list_changed"))));
  child(1, result(5));
}

TEST_F(BridgeOwnOpeningTest, AStartupTimeoutOfZeroIsNever) {
  config.startup_timeout = {};
  client(initialize(0));
  time_passes(std::chrono::hours(10));
  EXPECT_THAT(done(), Not(Contains("close 1")));
  opens(1);
}

TEST_F(BridgeOwnOpeningTest, RequestsThatWaitedForATimedOutOpeningAreToldTheOption) {
  client(initialize(0));
  client(initialized());
  client(call(1, "echo"));
  time_passes(seconds(51));
  done();
  dies(1, 137, "SIGKILL");
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("--startup-timeout"), HasSubstr("not delivered")));
}

TEST_F(BridgeOwnOpeningTest, AKillInTheFirstOpeningAnswersIt) {
  client(initialize(0));
  done();
  client(call(1, "sitter_kill"));
  const auto got = done();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0],
              AllOf(HasSubstr(R"json("id":0,"result")json"), HasSubstr("killed by sitter_kill")));
  EXPECT_EQ(got[1], "close 1");
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json(\"count\": 1)json")));
}

}  // namespace
}  // namespace sitter
