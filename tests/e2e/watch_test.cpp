#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"
#include "support/tool_files.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A server whose tools come from a watched file.
class Watch : public ::testing::Test {
 protected:
  Watch() { directory_.write("src/tools.json", kOneTool); }

  ScriptedClient::Setup setup(std::vector<std::string> options) {
    options.insert(options.end(), {"--cwd", directory_.path(), "--debounce", "30"});
    return {.options = std::move(options), .command = fake({"--tools", "src/tools.json"})};
  }

  static bool is_replaced(ScriptedClient& client, long before) {
    return eventually([&] {
      const Json status = client.status();
      return status["childPid"].is_number() && status["childPid"] != before &&
             status["childReady"] == true;
    });
  }

  TemporaryDirectory directory_;
};

TEST_F(Watch, ASaveReplacesTheServerAndTellsTheClient) {
  ScriptedClient client(setup({"--watch", "src"}));
  client.open();
  const long before = client.child_pid();
  directory_.write("src/tools.json", kTwoTools);
  client.heard("notifications/tools/list_changed");
  client.request(5, "tools/list");
  EXPECT_THAT(client.answer(5).dump(), HasSubstr("\"find\""));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}),
              AllOf(HasSubstr("previous: replaced"), HasSubstr("+1 added (find)")));
  EXPECT_TRUE(ends(before));
  const Json watch = client.status()["watch"];
  EXPECT_EQ(watch["folders"], 1);
  EXPECT_EQ(watch["lastTrigger"]["files"], Json({directory_ / "src/tools.json"}));
  EXPECT_EQ(client.end(), 0);
}

TEST_F(Watch, ACallRightAfterASaveIsAnsweredByTheCodeThatWasSaved) {
  ScriptedClient client(setup({"--watch", "src"}));
  client.open();
  for (const std::string& tools : {kTwoTools, kOneTool, kTwoTools}) {
    directory_.write("src/tools.json", tools);
    EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}), HasSubstr("previous: replaced"));
  }
}

TEST_F(Watch, ACallDuringALongBuildIsAnsweredByTheOldServerWhichSaysSo) {
  ASSERT_EQ(mkfifo((directory_ / "gate").c_str(), 0600), 0);
  ScriptedClient client(
      setup({"--watch", "src/*.json", "--fresh-wait", "0.1", "--build", "read -r line <gate"}));
  client.open();
  directory_.write("src/tools.json", kTwoTools);
  EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}),
              AllOf(HasSubstr("src/tools.json changed"), HasSubstr("the build has been running")));
  directory_.write("gate", "\n");
  client.heard("notifications/tools/list_changed");
}

TEST_F(Watch, ASaveIsBuiltWhereThereIsABuildCommand) {
  directory_.write("out/tools.json", kOneTool);
  ScriptedClient::Setup chosen =
      setup({"--watch", "src/*.json", "--build", "echo made >> src/made; cp src/tools.json out"});
  chosen.command = fake({"--tools", "out/tools.json"});
  ScriptedClient client(chosen);
  client.open();
  directory_.write("src/tools.json", kTwoTools);
  client.heard("notifications/tools/list_changed");
  EXPECT_EQ(client.status()["build"]["lastResult"], "succeeded");
}

TEST_F(Watch, TheProgramItselfIsWatched) {
  const std::string program = directory_.copy_program("out/server", fake_mcp());
  ScriptedClient::Setup chosen = setup({"--watch-binary"});
  chosen.command = {program};
  ScriptedClient client(chosen);
  client.open();
  const long before = client.child_pid();
  directory_.copy_program("out/next", fake_mcp());
  std::filesystem::rename(directory_ / "out/next", program);
  EXPECT_TRUE(is_replaced(client, before));
  EXPECT_EQ(client.status()["binaryStale"], false);
}

TEST_F(Watch, WithoutPatternsNothingIsWatched) {
  ScriptedClient client(setup({}));
  client.open();
  const long before = client.child_pid();
  directory_.write("src/tools.json", kTwoTools);
  EXPECT_TRUE(client.status()["watch"].is_null());
  EXPECT_EQ(client.child_pid(), before);
}

}  // namespace
}  // namespace sitter::testing
