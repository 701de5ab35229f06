#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "core/base/json_text.hpp"
#include "core/tool_server/cli_server.hpp"
#include "sitter/bytes.hpp"
#include "sitter/cli.hpp"
#include "support/cli_script.hpp"

namespace sitter {
namespace {

using CliServerBoundsTest = CliServerTest;

TEST_F(CliServerBoundsTest, ADescriptionHasTenSeconds) {
  start(1);
  done();
  time_passes(Milliseconds(9'999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(Milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("terminate run 1"));
  exits(1, 143, "SIGTERM");
}

TEST_F(CliServerBoundsTest, ADescriptionMayHaveAMebibyte) {
  const std::string description(kNotes);
  const std::string most =
      description + std::string(limits::kRunOutputMax - description.size(), ' ');
  start(1);
  writes(1, most);
  exits(1, 0);
  EXPECT_THAT(done(), Contains("child 1 started"));
  start(2);
  writes(2, most + ' ');
  exits(2, 0);
  EXPECT_THAT(done(), Contains("child 2 failed: ./notes schema --json has written 1048577 bytes, "
                               "and a description may have at most 1048576"));
}

TEST_F(CliServerBoundsTest, EightCallsRunAtOnce) {
  open(1);
  for (int id = 1; id <= 9; ++id) call(1, id, "list");
  const auto words = done();
  EXPECT_THAT(words, SizeIs(8));
  EXPECT_EQ(words.back(), "run 9: list");
  exits(2, 0);
  EXPECT_THAT(done(), Contains("run 10: list"));
  for (int run = 3; run <= 10; ++run) exits(run, 0);
}

TEST_F(CliServerBoundsTest, TenThousandCallsWaitForTheirTurn) {
  options.calls_max = 1;
  open(1);
  constexpr int kMost = static_cast<int>(limits::kWaitingCallsMax);
  for (int id = 0; id <= kMost; ++id) call(1, id, "list");
  EXPECT_THAT(done(), ElementsAre("run 2: list"));
  call(1, kMost + 1, "list");
  EXPECT_THAT(done(), ElementsAre(HasSubstr("`list` was not run: too many calls wait")));
  call(1, kMost + 2, "unknown");
  EXPECT_THAT(done(), ElementsAre(HasSubstr("`unknown` was not run: too many calls wait")));
  for (int id = 0; id <= kMost; ++id) forget(id);
  exits(2, 0);
  release(1);
}

TEST_F(CliServerBoundsTest, TheTextsOfWaitingCallsHaveSixtyFourMebibytes) {
  constexpr std::size_t kInput = 512 * limits::kKiB;
  constexpr int kMost = static_cast<int>(limits::kWaitingCallBytesMax / kInput);
  options.calls_max = 1;
  start(1);
  writes(1, R"json([{"name":"a","cli_command":[],"stdin":")json" + std::string(kInput, 'x') +
                R"json("},{"name":"b","cli_command":[],"stdin":"x"}])json");
  exits(1, 0);
  done();
  for (int id = 0; id <= kMost; ++id) call(1, id, "a");
  EXPECT_THAT(done(), SizeIs(1));
  call(1, kMost + 1, "b");
  EXPECT_THAT(done(),
              ElementsAre(HasSubstr("too many calls wait for their turn already (128 before "
                                    "this one, 67108865 bytes with it)")));
  for (int id = 0; id <= kMost; ++id) forget(id);
  release(1);
}

TEST_F(CliServerBoundsTest, TwentyLinesOfTheStderrAreShown) {
  open(1);
  for (const int count : {20, 21}) {
    call(1, count, "add", R"json({"text":"milk"})json");
    const int run = count - 18;
    for (int i = 1; i <= count; ++i) writes_error(run, "line " + std::to_string(i) + ".");
    done();
    exits(run, 1);
    const std::string answer = done().back();
    EXPECT_THAT(answer, HasSubstr("line 20."));
    EXPECT_EQ(answer.find("line 1.") != answer.npos, count == 20);
    EXPECT_THAT(answer, HasSubstr("line 2."));
  }
}

TEST_F(CliServerBoundsTest, ACallGetsFourProgressNotificationsPerSecond) {
  open(1);
  call(1, 7, "list", "{}", R"json({"progressToken":"t"})json");
  done();
  int heard = 0;
  // A line each millisecond for one second.
  for (int i = 0; i < 1000; ++i) {
    writes_error(2, "line");
    for (const std::string& word : done()) heard += word.starts_with("{") ? 1 : 0;
    time_passes(Milliseconds(1));
  }
  EXPECT_EQ(heard, 4);
  exits(2, 0);
}

TEST_F(CliServerBoundsTest, ARunHasHalfASecondAfterItsTerm) {
  open(1);
  processes[2] = {1002};
  call(1, 7, "list");
  time_passes(limits::kCallTimeoutDefault);
  EXPECT_THAT(done(), Contains("terminate run 2"));
  time_passes(Milliseconds(499));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(Milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("kill run 2"));
  processes[2].clear();
  exits(2, 137, "SIGKILL");
}

TEST_F(CliServerBoundsTest, ArgumentsMayBeNestedUpToTheBound) {
  const auto nested = [](std::size_t depth) {
    return "{\"text\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  open(1);
  call(1, 1, "list", nested(limits::kNestingMax));
  EXPECT_THAT(done(), ElementsAre("run 2: list"));
  exits(2, 0);
  done();
  call(1, 2, "list", nested(limits::kNestingMax + 1));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("its arguments are nested deeper than 100 levels")));
}

TEST_F(CliServerBoundsTest, AMegabyteIsRefusedInAWordAndPassesOverTheInput) {
  start(1);
  writes(1,
         R"json([{"name":"word","parameters":{"properties":{"text":{}}},"cli_command":["{text}"]},
    {"name":"input","parameters":{"properties":{"text":{}}},"cli_command":[],"stdin":"{text}"}])json");
  exits(1, 0);
  done();
  const std::string large(1 << 20, 'x');
  call(1, 1, "word", "{\"text\":\"" + large + "\"}");
  EXPECT_THAT(done(), ElementsAre(HasSubstr("the argument `text` makes a word of 1048576 bytes")));
  call(1, 2, "input", "{\"text\":\"" + large + "\"}");
  EXPECT_EQ(done(), std::vector<std::string>{"run 2: <" + large});
  exits(2, 0);
}

}  // namespace
}  // namespace sitter
