#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/cli_script.hpp"

namespace sitter {
namespace {

using ::testing::Each;

/// How the tool describes itself, and what follows when it does not.
class CliServerDescriptionTest : public CliServerTest {};

TEST_F(CliServerDescriptionTest, ADescriptionThatWasReadCountsAsAChild) {
  start(1);
  EXPECT_THAT(done(), ElementsAre("run 1: schema --json"));
  writes(1, R"json({"tools":[)json");
  writes(1, "]}");
  EXPECT_THAT(done(), IsEmpty());
  exits(1, 0);
  EXPECT_THAT(done(), Contains("child 1 started"));
}

TEST_F(CliServerDescriptionTest, AFileMayDescribeTheTool) {
  options.description_arguments.clear();
  options.description_source = "tools.json";
  start(1);
  EXPECT_THAT(done(), ElementsAre("read the description for 1"));
  reads_file(1, kNotes);
  EXPECT_THAT(done(), ElementsAre("child 1 started"));
  start(2);
  done();
  reads_file(2, "", "no such file");
  EXPECT_THAT(done(), ElementsAre("child 2 failed: tools.json could not be read: no such file"));
}

TEST_F(CliServerDescriptionTest, AToolThatDoesNotDescribeItselfIsAFailedStart) {
  start(1);
  done();
  writes_error(1, "no such command");
  exits(1, 2);
  EXPECT_THAT(done(), ElementsAre("stderr [description] no such command",
                                  "child 1 failed: ./notes schema --json has failed: exit 2; the "
                                  "description of a tool that does not describe itself is given "
                                  "with --schema-file"));
  start(2);
  writes(2, "usage: notes");
  exits(2, 0);
  EXPECT_THAT(done(),
              Contains("child 2 failed: the description of ./notes schema --json cannot be "
                       "used: it is not JSON; it begins with \"usage: notes\", and only the "
                       "JSON may stand on stdout"));
}

TEST_F(CliServerDescriptionTest, CallsOfUnknownToolsDoNotPutOffTheNextDescription) {
  open(1);
  call(1, 7, "unknown");
  EXPECT_THAT(done(), ElementsAre("reload asked: a call of the unknown tool `unknown`"));
  start(2);
  done();
  call(1, 8, "other");
  EXPECT_THAT(done(), IsEmpty());
  writes(2, kNotes);
  exits(2, 0);
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("Unknown tool: unknown")),
                            Contains(HasSubstr("Unknown tool: other"))));
}

TEST_F(CliServerDescriptionTest, WhatIsNotCheckedIsToldOnTheStderr) {
  start(1);
  writes(1, R"json([{"name":"a","parameters":{"properties":{"x":{"pattern":"(?=x)"}}},)json"
            R"json("cli_command":["{x}"]}])json");
  exits(1, 0);
  EXPECT_THAT(
      done(),
      Contains(AllOf(
          HasSubstr("stderr [description] tool `a`: the pattern (?=x) is not a valid RE2 pattern"),
          HasSubstr("so it is not checked"))));
}

TEST_F(CliServerDescriptionTest, AToolThatIsDescribingItselfIsEndedWithItsChild) {
  start(1);
  EXPECT_THAT(done(), ElementsAre("run 1: schema --json"));
  processes[1] = {1001};
  close(1);
  EXPECT_THAT(done(), ElementsAre("child 1 started"));
  close(1);
  EXPECT_THAT(done(), ElementsAre("terminate run 1"));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("kill run 1"));
  processes[1] = {};
  exits(1, 0, "SIGKILL");
  EXPECT_THAT(done(), Contains("child 1 exited"));
}

TEST_F(CliServerDescriptionTest, ADescriptionHasALimitOfTime) {
  start(1);
  done();
  next_deadline_comes();
  EXPECT_THAT(done(), Contains("terminate run 1"));
  exits(1, 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("child 1 failed: ./notes schema --json has not ended within 10s"));
}

TEST_F(CliServerDescriptionTest, AFileThatIsBeingWrittenIsTriedAgain) {
  plays_starts = false;
  start(1);
  done();
  fails_to_start(1, {.reason = "text file busy", .is_file_busy = true});
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("run 1: schema --json"));
  fails_to_start(1, {.reason = "no such file"});
  EXPECT_THAT(done(), Contains("child 1 failed: no such file"));
}

TEST_F(CliServerDescriptionTest, AToolThatDoesNotExistMayBeBuilt) {
  plays_starts = false;
  start(1);
  done();
  fails_to_start(1, {.reason = "no such file", .is_missing = true});
  EXPECT_THAT(done(), ElementsAre("child 1 is missing: no such file"));
}

TEST_F(CliServerDescriptionTest, ACallOfAnUnknownToolWaitsForTheNextDescription) {
  open(1);
  call(1, 7, "new", R"json({"text":"milk"})json");
  call(1, 8, "never");
  EXPECT_THAT(done(), ElementsAre("reload asked: a call of the unknown tool `new`",
                                  "reload asked: a call of the unknown tool `never`"));
  start(2);
  writes(2, R"json({"tools":[{"name":"new","cli_command":["new"]}]})json");
  exits(2, 0);
  EXPECT_THAT(
      done(),
      ElementsAre(
          "run 2: schema --json", "run 3: new", "child 2 started",
          R"json({"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"Unknown tool: never"}})json"));
  close(1);
  forget(7);
  EXPECT_THAT(done(), Contains("terminate run 3"));
  exits(3, 143, "SIGTERM");
  release(1);
}

TEST_F(CliServerDescriptionTest, AnUnknownToolIsAnErrorIfNothingNewIsRead) {
  open(1);
  call(1, 7, "new");
  done();
  start(2);
  exits(2, 1);
  EXPECT_THAT(done().back(), HasSubstr("Unknown tool: new"));
  call(1, 8, "new");
  done();
  next_deadline_comes();
  EXPECT_THAT(done().back(), HasSubstr("Unknown tool: new"));
  call(1, 9, "new");
  forget(9);
  send(1,
       R"json({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})json");
  done();
  start(3);
  exits(3, 1);
  EXPECT_THAT(done(), Each(Not(HasSubstr("jsonrpc"))));
}

}  // namespace
}  // namespace sitter
