#include <fmt/format.h>

#include "core/client/client_requests.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeInFlightTest : public BridgeTest {
 protected:
  void SetUp() override { open_session(); }
};

TEST_F(BridgeInFlightTest, ACallInFlightWhenTheChildIsKilledIsAnswered) {
  client(call(5, "work"));
  child_says(1, "about to work");
  done();
  time_passes(milliseconds(2100));
  exits(1, 137, "SIGKILL");
  EXPECT_THAT(client_got(), IsEmpty());
  closes_output(1);
  const auto line = answer();
  EXPECT_EQ(line["id"], 5);
  EXPECT_EQ(line["result"]["isError"], true);
  EXPECT_EQ(line["result"]["content"][0]["text"],
            "[mcp-sitter] the server crashed (SIGKILL, from outside or out of memory) after 2.1s. "
            "This call was running then and may or may not have taken effect.\n"
            "Its last words on stderr:\n"
            "about to work\n"
            "Fix the cause if need be and call again: the next request starts the server. "
            "sitter_child_stderr shows more.");
}

TEST_F(BridgeInFlightTest, AnswerReadAfterTheExitStillCounts) {
  client(call(5, "last_words"));
  done();
  exits(1, 0);
  EXPECT_THAT(done(), ElementsAre("terminate 1"));
  child(1, result(5, R"json({"content":[]})json"));
  closes_output(1);
  EXPECT_THAT(done(), ElementsAre("client " + result(5, R"json({"content":[]})json"), "release 1"));
}

TEST_F(BridgeInFlightTest, LastWordsReadAfterTheExitAreInTheReport) {
  client(call(5, "work"));
  exits(1, 3);
  child_says(1, "Segmentation fault");
  closes_stdout(1);
  EXPECT_THAT(client_got(), IsEmpty());
  closes_stderr(1);
  EXPECT_THAT(answer_text(), HasSubstr("Segmentation fault"));
}

TEST_F(BridgeInFlightTest, AGrandchildThatHoldsThePipesDelaysTheAnswerForABoundedTime) {
  client(call(5, "work"));
  exits(1, 3);
  done();
  time_passes(milliseconds(299));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("release 1", HasSubstr("crashed (exit 3)")));
}

TEST_F(BridgeInFlightTest, TheEndOfOutputAloneIsNotTheEnd) {
  client(call(5, "work"));
  closes_output(1);
  EXPECT_THAT(client_got(), IsEmpty());
  exits(1, 3);
  EXPECT_THAT(answer_text(), HasSubstr("crashed (exit 3)"));
}

TEST_F(BridgeInFlightTest, OtherRequestsGetAnError) {
  client(request(5, "vendor/thing"));
  client(request(6, "tools/list", R"json({"cursor":"2"})json"));
  child_says(1, "oops");
  dies(1, 139, "SIGSEGV");
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  const auto line = nlohmann::json::parse(got[0]);
  EXPECT_EQ(line["id"], 5);
  EXPECT_EQ(line["error"]["code"], -32603);
  EXPECT_THAT(line["error"]["message"].get<std::string>(),
              AllOf(HasSubstr("SIGSEGV"), HasSubstr("may or may not have taken effect")));
  EXPECT_EQ(line["error"]["data"]["signal"], "SIGSEGV");
  EXPECT_EQ(line["error"]["data"]["stderr"], "oops");
  EXPECT_THAT(got[1], HasSubstr(R"json("id":6,"error")json"));
}

TEST_F(BridgeInFlightTest, ACallThatAskedForATaskGetsAnError) {
  client(request(5, "tools/call", R"json({"name":"work","task":{"ttl":1}})json"));
  dies(1, 3);
  EXPECT_EQ(answer()["error"]["code"], -32603);
}

TEST_F(BridgeInFlightTest, APingInFlightIsAnsweredByTheBridge) {
  client(request(5, "ping"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request(5, "ping")));
  dies(1, 3);
  EXPECT_THAT(client_got(), ElementsAre(result(5)));
}

TEST_F(BridgeInFlightTest, ManyRequestsAreAnsweredInTheOrderInWhichTheyCame) {
  for (int id = 1; id <= 50; ++id) client(call(id, "work"));
  dies(1, 3);
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(50));
  for (int id = 1; id <= 50; ++id) {
    EXPECT_THAT(got[static_cast<std::size_t>(id - 1)],
                HasSubstr("\"id\":" + std::to_string(id) + ","));
  }
}

TEST_F(BridgeInFlightTest, ACallJustAfterTheDeathWaitsForTheNextChild) {
  // The call comes after the exit of the child and before the end of its output.
  exits(1, 3);
  done();
  client(call(5, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  closes_output(1);
  EXPECT_THAT(done(), ElementsAre("release 1", "start 2", HasSubstr("initialize")));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(5, "echo")));
  child(2, result(5, text_result("x")));
}

TEST_F(BridgeInFlightTest, AChildThatClosesItsStdoutButLivesIsTakenDown) {
  client(call(5, "work"));
  done();
  closes_stdout(1);
  EXPECT_THAT(done(), ElementsAre("close 1"));
  time_passes(seconds(1));
  EXPECT_THAT(done(), ElementsAre("terminate 1", "kill 1"));
  exits(1, 137, "SIGKILL");
  closes_stderr(1);
  EXPECT_THAT(answer_text(), HasSubstr("closed its stdout and was taken down"));
}

TEST_F(BridgeInFlightTest, AChildThatCannotBeSignalledIsGivenUp) {
  plays.signal = false;
  client(call(5, "work"));
  closes_stdout(1);
  unit_signalled(1, {{1001, true, "server", ""}});
  time_passes(milliseconds(500));
  unit_signalled(1, {{1001, true, "server", "Operation not permitted"}});
  time_passes(milliseconds(500));
  done();
  unit_signalled(1, {{1001, true, "server", "Operation not permitted"}});
  EXPECT_THAT(done(), ElementsAre("release 1", AllOf(HasSubstr("given up"),
                                                     HasSubstr("Operation not permitted"))));
}

TEST_F(BridgeInFlightTest, AChildThatDoesNotEndAfterSigkillIsGivenUp) {
  client(call(5, "work"));
  closes_stdout(1);
  time_passes(seconds(1));
  done();
  time_passes(milliseconds(1999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("release 1",
                                  AllOf(HasSubstr("given up"), HasSubstr("2 s after SIGKILL"))));
}

TEST_F(BridgeInFlightTest, AnExitThatWasAskedForFromOutsideIsNotCalledACrash) {
  client(call(5, "work"));
  dies(1, 143, "SIGTERM");
  EXPECT_THAT(answer_text(),
              AllOf(HasSubstr("ended from outside (SIGTERM)"), Not(HasSubstr("crash"))));
}

TEST_F(BridgeInFlightTest, TheReportQuotesABoundedTail) {
  for (int n = 0; n < 30; ++n) child_says(1, "line " + std::to_string(n));
  client(call(5, "work"));
  dies(1, 1);
  const std::string text = answer_text();
  EXPECT_THAT(text,
              AllOf(Not(HasSubstr("line 9\n")), HasSubstr("line 10\n"), HasSubstr("line 29\n")));
}

TEST(BridgeBoundsTest, HowManyMayBeInFlightIsBounded) {
  // The fixture would be too slow for so many requests.
  const Now now{Instant() + seconds(1), WallTime()};
  Bridge bridge(BridgeConfig{}, now);
  std::string last_answer;
  const auto feed = [&](const Fact& fact) {
    bridge.handle(fact, now);
    while (const auto order = bridge.poll_order()) {
      if (const auto* const sent = std::get_if<order::SendToClient>(&*order)) {
        last_answer = sent->line.text();
      }
    }
  };
  const auto say = [&](const std::string& text) {
    const OwnedLine line(text);
    feed(fact::ClientLine{line.line()});
  };
  say(initialize(0));
  feed(fact::ChildStarted{1, 1});
  const OwnedLine opening(result(0, Server().opening()));
  feed(fact::ChildLine{1, opening.line()});
  last_answer.clear();
  for (std::size_t id = 1; id <= limits::kInFlightCountMax; ++id) {
    say(R"json({"jsonrpc":"2.0","method":"x","id":)json" + std::to_string(id) + "}");
  }
  EXPECT_EQ(last_answer, "");
  EXPECT_EQ(bridge.owed_count(), 131072u);
  say(request(R"json("one more")json", "x"));
  EXPECT_THAT(last_answer, AllOf(HasSubstr("one more"), HasSubstr("131072 requests unanswered")));
}

TEST_F(BridgeInFlightTest, ACrashIsTheLastFailure) {
  open_session();
  child_says(1, "no memory");
  dies(1, 139, "SIGSEGV");
  done();
  client(call(1, "sitter_status"));
  const auto failure = nlohmann::json::parse(answer_text())["lastFailure"];
  EXPECT_THAT(failure["what"], HasSubstr("crashed (SIGSEGV)"));
  EXPECT_EQ(failure["exitCode"], 139);
  EXPECT_EQ(failure["stderrTail"], "no memory");
}

TEST_F(BridgeInFlightTest, ACleanExitIsNotAFailure) {
  open_session();
  dies(1, 0);
  done();
  client(call(1, "sitter_status"));
  EXPECT_FALSE(nlohmann::json::parse(answer_text()).contains("lastFailure"));
}

TEST_F(BridgeInFlightTest, AChildThatWasGivenUpHasNoExitCode) {
  open_session();
  client(call(1, "sitter_kill"));
  time_passes(seconds(3));
  done();
  client(call(2, "sitter_status"));
  const auto status = nlohmann::json::parse(answer_text());
  EXPECT_EQ(status["childState"], "given up");
  EXPECT_EQ(status["previousExitCode"], nullptr);
  EXPECT_FALSE(status["lastFailure"].contains("exitCode"));
  EXPECT_FALSE(status["history"][0].contains("exit"));
}

TEST_F(BridgeInFlightTest, TheBridgeMakesNoProgressOfItsOwnDuringARespawn) {
  // The first value of the child would have to be larger than the bridge's own.
  dies(1, 0);
  client(call_with_progress(5, "work"));
  time_passes(seconds(40));
  EXPECT_THAT(client_got(), IsEmpty());
  opens(2);
  child(2, progress(5, 0));
  EXPECT_THAT(client_got(), ElementsAre(progress(5, 0)));
  time_passes(milliseconds(1));
  child(2, result(5));
}

TEST_F(BridgeInFlightTest, TheStatusListsTheLastTenGenerations) {
  int id = 0;
  const auto generations = [&] {
    client(call(++id, "sitter_status"));
    std::vector<int> numbers;
    const auto status = nlohmann::json::parse(answer_text());
    for (const auto& life : status["history"]) numbers.push_back(life["number"]);
    return numbers;
  };
  const auto serves = [&](Generation gen) {
    client(call(++id, "echo"));
    opens(gen);
    child(gen, result(id));
    done();
  };
  const auto ends = [&](Generation gen) {
    dies(gen, 0);
    done();
  };
  ends(1);
  for (Generation gen = 2; gen < 10; ++gen) {
    serves(gen);
    ends(gen);
  }
  serves(10);
  EXPECT_THAT(generations(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  ends(10);
  EXPECT_THAT(generations(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  serves(11);
  EXPECT_THAT(generations(), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  ends(11);
  EXPECT_THAT(generations(), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST_F(BridgeInFlightTest, TheStatusNamesACallThatTheClientHasGivenUp) {
  int id = 100;
  const auto summary = [&] {
    client(call(++id, "sitter_status"));
    return nlohmann::json::parse(answer_text())["summary"].get<std::string>();
  };
  open_session();
  client(call(1, "forecast"));
  EXPECT_EQ(process_looks, 0);
  client(request(2, "resources/read", R"json({"uri":"a:b"})json"));
  client(cancelled(1));
  client(cancelled(2));
  EXPECT_EQ(process_looks, 1) << "the use of the processor since then tells whether it hangs";
  time_passes(milliseconds(8000));
  activity = "process 7 is sleeping in do_epoll_wait";
  EXPECT_THAT(
      summary(),
      HasSubstr("; forecast was given up by the client 8s ago and still runs, as far as is known: "
                "process 7 is sleeping in do_epoll_wait (sitter_child_stderr "
                "shows what it wrote)."));
  activity.clear();
  client(call(3, "add"));
  client(cancelled(3));
  EXPECT_THAT(summary(), HasSubstr("; add was given up by the client just now and still runs, "
                                   "like 1 before it, as far as is known (sitter_child_stderr"));
  child(1, result(1));
  child(1, result(3));
  done();
  EXPECT_THAT(summary(), Not(HasSubstr("given up")));
  client(call(4, "add"));
  client(cancelled(4));
  dies(1, 0);
  EXPECT_THAT(summary(), Not(HasSubstr("given up")));
}

/// The cancellation of an official client that has waited for long enough.
std::string times_out(int id) {
  return notification("notifications/cancelled",
                      fmt::format(R"json({{"requestId":{},"reason":"McpError: MCP error )json"
                                  R"json(-32001: Request timed out"}})json",
                                  id));
}

TEST_F(BridgeInFlightTest, TheNextResultNamesACallThatTookTooLongOnce) {
  client(call(5, "work"));
  activity = "process 1001 is sleeping in pipe_read";
  client(times_out(5));
  time_passes(seconds(8));
  client(call(6, "echo"));
  child(1, result(6, text_result("x")));
  EXPECT_THAT(
      answer_text(),
      HasSubstr(
          "[mcp-sitter] work was given up by the client 8s ago and still runs, as far as is known: "
          "process 1001 is sleeping in pipe_read (sitter_child_stderr shows what it "
          "wrote)."));
  client(call(7, "echo"));
  child(1, result(7, text_result("x")));
  EXPECT_EQ(answer_text(), "x");
}

TEST_F(BridgeInFlightTest, ACallThatIsAnsweredLateOrStoppedByTheUserIsNotNamed) {
  client(call(4, "work"));
  client(call(5, "work"));
  client(times_out(4));
  child(1, result(4, text_result("late")));
  done();
  client(call(6, "echo"));
  child(1, result(6, text_result("x")));
  EXPECT_EQ(answer_text(), "x");
  client(cancelled(5));
  client(call(7, "echo"));
  child(1, result(7, text_result("x")));
  EXPECT_EQ(answer_text(), "x");
}

}  // namespace
}  // namespace sitter
