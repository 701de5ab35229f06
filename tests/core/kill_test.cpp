#include "core/tell/kill.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SharedImage shared_by(std::size_t count) {
  SharedImage shared{"/usr/bin/node", {}};
  for (std::size_t i = 1; i <= count; ++i) {
    shared.others.push_back({static_cast<std::int64_t>(100 + i), "node app.js"});
  }
  return shared;
}

TEST(RefusalTextTest, NamesTheFileAndWhoWouldHaveEnded) {
  EXPECT_EQ(refusal_text({"/usr/bin/node", {{101, "node app.js"}, {102, "node"}}}),
            "Nothing was ended. The scope same-executable would end every process that runs "
            "/usr/bin/node, which other programs run too. These processes would have ended:\n"
            "101 node app.js\n"
            "102 node\n"
            "The scope auto ends the server and all that it started, and leaves other programs "
            "alone. Only the user can allow more, by starting mcp-sitter with --allow-wide-kill.");
}

TEST(RefusalTextTest, SaysThatNobodyElseRunsIt) {
  EXPECT_THAT(refusal_text(shared_by(0)),
              AllOf(HasSubstr("At the moment, no such process is running.\nThe scope auto"),
                    Not(HasSubstr("would have ended"))));
}

TEST(RefusalTextTest, NamesTwentyAndCountsTheRest) {
  ASSERT_EQ(limits::kShownStrangersMax, 20u);
  EXPECT_THAT(refusal_text(shared_by(20)), AllOf(HasSubstr("\n120 "), Not(HasSubstr("more\n"))));
  EXPECT_THAT(refusal_text(shared_by(21)),
              AllOf(HasSubstr("\n120 node app.js\nand 1 more\n"), Not(HasSubstr("121"))));
}

TEST(KillTextTest, ListsWhatWasKilled) {
  KillReport report;
  report.path = "/w/server";
  report.killed = {{10, "child", "server --x", "SIGTERM"}};
  EXPECT_EQ(kill_text(report), R"json({
  "killed": [
    {
      "pid": 10,
      "relation": "child",
      "command": "server --x",
      "how": "SIGTERM"
    }
  ],
  "path": "/w/server",
  "count": 1
})json");
}

TEST(KillTextTest, NothingToKillIsAnEmptyListWithItsReason) {
  KillReport report;
  report.note = "nothing was running";
  EXPECT_EQ(kill_text(report), R"json({
  "killed": [],
  "path": null,
  "count": 0,
  "note": "nothing was running"
})json");
}

}  // namespace
}  // namespace sitter
