#include "core/tool_server/cli_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/child/child_lifecycle.hpp"
#include "support/cli_script.hpp"

namespace sitter {
namespace {

using ::testing::Each;

std::string text_answer(int id, const std::string& text) {
  return R"json({"jsonrpc":"2.0","id":)json" + std::to_string(id) +
         R"json(,"result":{"content":[{"type":"text","text":")json" + text + R"json("}]}})json";
}

TEST_F(CliServerTest, ARunGetsOneSigterm) {
  open(1);
  call(1, 7, "list");
  processes[2] = {1002};
  done();
  close(1);
  signal(1, order::SignalUnit::How::terminate);
  EXPECT_THAT(done(), ElementsAre("terminate run 2", "unit of 1: 1002"));
  signal(1, order::SignalUnit::How::kill);
  EXPECT_THAT(done(), ElementsAre("kill run 2", "unit of 1: 1002"));
  processes[2] = {};
  exits(2, 0, "SIGKILL");
  forget(7);
}

TEST_F(CliServerTest, ABusyFileIsTriedAgainForACallThatHasWaited) {
  options.calls_max = 1;
  open(1);
  call(1, 7, "list");
  call(1, 8, "list");
  time_passes(limits::kBusyFileWait);
  done();
  plays_starts = false;
  exits(2, 0);
  fails_to_start(3, {.reason = "text file busy", .is_file_busy = true});
  EXPECT_THAT(done(), ElementsAre("run 3: list", text_answer(7, "")));
  plays_starts = true;
  time_passes(limits::kBusyFileInterval);
  EXPECT_THAT(done(), ElementsAre("run 3: list"));
  exits(3, 0);
}

TEST_F(CliServerTest, TheOpeningAndTheListsOfBothEras) {
  open(1);
  send(
      1,
      R"json({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})json");
  EXPECT_THAT(
      done(),
      ElementsAre(
          R"json({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"notes","version":""}}})json"));
  send(
      1,
      R"json({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}})json");
  EXPECT_THAT(done().front(), HasSubstr(R"json("protocolVersion":"2025-11-25")json"));
  send(1, R"json({"jsonrpc":"2.0","method":"notifications/initialized"})json");
  send(1, R"json({"jsonrpc":"2.0","id":"p","method":"ping"})json");
  EXPECT_THAT(done(), ElementsAre(R"json({"jsonrpc":"2.0","id":"p","result":{}})json"));
  send(1, R"json({"jsonrpc":"2.0","id":2,"method":"tools/list"})json");
  EXPECT_THAT(done().front(), HasSubstr(R"json({"tools":[{"name":"add",)json"));
  send(
      1,
      R"json({"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})json");
  EXPECT_THAT(done().front(), HasSubstr(R"json("supportedVersions":["2026-07-28"])json"));
  send(
      1,
      R"json({"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})json");
  EXPECT_THAT(
      done().front(),
      HasSubstr(
          R"json("resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo")json"));
  send(
      1,
      R"json({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}})json");
  EXPECT_THAT(done().front(), HasSubstr("-32022"));
  send(1, R"json({"jsonrpc":"2.0","id":6,"method":"prompts/list"})json");
  EXPECT_THAT(done().front(), HasSubstr("-32601"));
}

TEST_F(CliServerTest, ACallIsARun) {
  open(1);
  call(1, 7, "add", R"json({"text":"milk"})json");
  EXPECT_THAT(done(), ElementsAre("run 2: add milk"));
  writes(2, "added\n");
  exits(2, 0);
  EXPECT_THAT(done(), ElementsAre(text_answer(7, "added\\n")));
}

TEST_F(CliServerTest, AResultOfTheToolHasNoMemberTwiceInTheStatelessRevision) {
  open(1);
  const std::string info =
      R"json("io.modelcontextprotocol/serverInfo":{"name":"notes","version":""})json";
  int run = 2;
  for (const auto& [written, answered] :
       {std::pair<std::string, std::string>{
            R"json({"content":[]})json",
            R"json({"resultType":"complete","_meta":{)json" + info + R"json(},"content":[]})json"},
        {R"json({"content":[],"_meta":{}})json",
         R"json({"resultType":"complete","content":[],"_meta":{)json" + info + "}}"},
        {R"json({"content":[],"_meta":{"a":1},"resultType":"complete"})json",
         R"json({"content":[],"_meta":{)json" + info +
             R"json(,"a":1},"resultType":"complete"})json"},
        {R"json({"resultType":"complete","content":[]})json",
         R"json({"_meta":{)json" + info + R"json(},"resultType":"complete","content":[]})json"}}) {
    call(1, run, "list", "{}",
         R"json({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})json");
    writes(run, written);
    exits(run, 0);
    EXPECT_EQ(done().back(), R"json({"jsonrpc":"2.0","id":)json" + std::to_string(run) +
                                 ",\"result\":" + answered + "}");
    ++run;
  }
}

TEST_F(CliServerTest, AnAnswerWaitsForTheEndOfTheOutput) {
  open(1);
  processes[2] = {1002};
  call(1, 7, "list");
  done();
  writes(2, "a");
  exits(2, 0);
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();  // what a run leaves behind may have just been started
  processes[2].clear();
  next_deadline_comes();
  EXPECT_THAT(done(), Contains(text_answer(7, "a")));
}

TEST_F(CliServerTest, AFailureSaysWhatTheRunHasWritten) {
  open(1);
  call(1, 7, "add", R"json({"text":"milk"})json");
  writes(2, "half\n");
  for (int i = 1; i <= 21; ++i) writes_error(2, "line " + std::to_string(i));
  done();
  exits(2, 3);
  const auto words = done();
  ASSERT_EQ(words.size(), 1U);
  EXPECT_THAT(
      words.front(),
      HasSubstr(
          R"json({"type":"text","text":"half\n"},{"type":"text","text":"[mcp-sitter] the command of `add` has failed: exit 3; its stderr says:\nline 2\n)json"));
  EXPECT_THAT(words.front(), HasSubstr(R"json(line 21"}],"isError":true)json"));
}

TEST_F(CliServerTest, AnExitCodeMayBeGood) {
  open(1);
  call(1, 7, "list");
  exits(2, 1);
  EXPECT_THAT(done(), Contains(text_answer(7, "")));
  call(1, 8, "list");
  exits(3, 129, "SIGHUP");
  EXPECT_THAT(done().back(), HasSubstr("has failed: SIGHUP"));
}

TEST_F(CliServerTest, ARunThatCannotBeStartedIsAnError) {
  plays_starts = false;
  start(1);
  fails_to_start(1, {.reason = "x", .is_file_busy = true});
  plays_starts = true;
  next_deadline_comes();
  writes(1, kNotes);
  exits(1, 0);
  plays_starts = false;
  call(1, 7, "list");
  fails_to_start(2, {.reason = "there is no ./notes"});
  EXPECT_THAT(done().back(),
              HasSubstr("[mcp-sitter] `list` could not be run: there is no ./notes"));
}

TEST_F(CliServerTest, WrongArgumentsRunNothing) {
  open(1);
  call(1, 1, "add");
  call(1, 2, "add", R"json({"text":1})json");
  call(1, 3, "add", R"json({"text":"-x"})json");
  call(1, 4, "add", "[]");
  call(1, 5, "add", R"json({"text":)json" + std::string(100, '[') + std::string(100, ']') + "}");
  const auto words = done();
  ASSERT_EQ(words.size(), 5U);
  EXPECT_THAT(words[0], HasSubstr("has no member `text`"));
  EXPECT_THAT(words[1], HasSubstr("the argument `text` is not of type string; this part of the "
                                  "schema says {\\\"type\\\":\\\"string\\\"}"));
  EXPECT_THAT(words[2], HasSubstr("begins with"));
  EXPECT_THAT(words[3], HasSubstr("its arguments are not an object"));
  EXPECT_THAT(words[4], HasSubstr("nested deeper than 100 levels"));
}

TEST_F(CliServerTest, LimitsConcurrentRunsAndQueuesTheOthersInOrder) {
  options.calls_max = 2;
  open(1);
  for (int id = 1; id <= 4; ++id) call(1, id, "list");
  EXPECT_THAT(done(), ElementsAre("run 2: list", "run 3: list"));
  exits(3, 0);
  EXPECT_THAT(done(), ElementsAre("run 4: list", text_answer(2, "")));
  // A description does not wait for its turn.
  start(2);
  EXPECT_THAT(done(), ElementsAre("run 6: schema --json"));
  exits(6, 1);
  for (const int run : {2, 4}) exits(run, 0);
  exits(5, 0);
  done();
}

TEST_F(CliServerTest, ARunThatCanOpenNoFilesWaitsForTheEndOfAnother) {
  open(1);
  call(1, 1, "list");
  done();
  plays_starts = false;
  call(1, 2, "list");
  call(1, 3, "list");
  EXPECT_THAT(done(), ElementsAre("run 3: list", "run 4: list"));
  // The files may also come back in another way.
  for (int tries = 0; tries < 3; ++tries) {
    for (const int run : {3, 4}) fails_to_start(run, {.is_out_of_files = true});
    EXPECT_THAT(done(), IsEmpty());
    if (tries == 2) break;
    time_passes(limits::kBusyFileInterval);
    EXPECT_THAT(done(), ElementsAre("run 3: list", "run 4: list"));
  }
  exits(2, 0);
  EXPECT_THAT(done(), ElementsAre("run 3: list", "run 4: list", text_answer(1, "")));
  // No other run goes that could give files back.
  for (const int run : {3, 4}) fails_to_start(run, {.reason = "x", .is_out_of_files = true});
  EXPECT_THAT(done(), ElementsAre(HasSubstr("could not be run: x"), HasSubstr("x")));
}

TEST_F(CliServerTest, ACallHasALimitOfTime) {
  open(1);
  processes[2] = {1002};
  call(1, 7, "list");
  done();
  time_passes(limits::kCallTimeoutDefault - Milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("terminate run 2"));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("kill run 2"));
  processes[2].clear();
  exits(2, 137, "SIGKILL");
  EXPECT_THAT(done().back(),
              HasSubstr("the command of `list` was ended, since it had not ended after 55 s"));
}

TEST_F(CliServerTest, DoesNotTimeOutARunThatExitedInTimeButLeftProcesses) {
  open(1);
  processes[2] = {2000};
  call(1, 7, "list");
  time_passes(limits::kCallTimeoutDefault - Milliseconds(1));
  writes(2, "a");
  exits(2, 0);
  done();
  time_passes(Milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("terminate run 2"));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre(text_answer(7, "a")));
}

TEST_F(CliServerTest, DoesNotAnswerACancelledCall) {
  options.calls_max = 1;
  open(1);
  call(1, 7, "list");
  call(1, 8, "list");
  done();
  const auto cancel = [&](int id) {
    forget(id);
    send(1,
         R"json({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)json" +
             std::to_string(id) + "}}");
  };
  cancel(8);
  EXPECT_THAT(done(), IsEmpty());
  cancel(7);
  EXPECT_THAT(done(), ElementsAre("terminate run 2"));
  cancel(7);
  exits(2, 143, "SIGTERM");
  EXPECT_THAT(done(), Each(Not(HasSubstr("jsonrpc"))));
}

TEST_F(CliServerTest, StderrGoesToTheRingAndIsProgress) {
  open(1);
  call(1, 7, "list", "{}", R"json({"progressToken":"t"})json");
  done();
  writes_error(2, "one");
  writes_error(2, "two");
  EXPECT_THAT(
      done(),
      ElementsAre(
          R"json({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"message":"one"}})json",
          "stderr [list] one", "stderr [list] two"));
  time_passes(Milliseconds(250));
  writes_error(2, "three");
  EXPECT_THAT(done().front(), HasSubstr(R"json("progress":2,"message":"three")json"));
  exits(2, 0);
}

TEST_F(CliServerTest, AChildThatIsTakenDownTakesItsRunsAlong) {
  open(1);
  processes[2] = {1002, 2000};
  call(1, 7, "list");
  forget(7);  // the bridge answers what a child leaves
  done();
  signal(1, order::SignalUnit::How::look);
  EXPECT_THAT(done(), ElementsAre("unit of 1: 1002 2000"));
  close(1);
  EXPECT_THAT(done(), ElementsAre("terminate run 2"));
  processes[2].clear();
  exits(2, 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("child 1 exited"));
  signal(1, order::SignalUnit::How::terminate);
  EXPECT_THAT(done(), ElementsAre("unit of 1:"));
  release(1);
}

TEST_F(CliServerTest, RunsOfAnOldDescriptionGoOn) {
  open(1);
  call(1, 7, "list");
  start(2);
  done();
  writes(3, R"json({"tools":[]})json");
  exits(3, 0);
  EXPECT_THAT(done(), Contains("child 2 started"));
  exits(2, 0);
  EXPECT_THAT(done(), Contains(text_answer(7, "")));
  close(1);
  EXPECT_THAT(done(), Contains("child 1 exited"));
  release(1);
}

TEST_F(CliServerTest, AReleasedChildLeavesNothing) {
  open(1);
  call(1, 7, "list");
  call(1, 8, "list");
  forget(7);
  forget(8);
  start(2);
  done();
  release(1);
  exits(2, 0);
  release(2);
  EXPECT_THAT(done(), IsEmpty());
}

}  // namespace
}  // namespace sitter
