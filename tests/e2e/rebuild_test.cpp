#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"
#include "support/tool_files.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A server whose tools come from a file, and a build command in its directory.
class Rebuild : public ::testing::Test {
 protected:
  Rebuild() { directory_.write("tools.json", kOneTool); }

  ScriptedClient::Setup setup(const std::string& build_command,
                              std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--build", build_command, "--cwd", directory_.path()});
    return {.options = std::move(options), .command = fake({"--tools", "tools.json"})};
  }

  TemporaryDirectory directory_;
};

TEST_F(Rebuild, TheNewServerTakesThePlaceOfTheOldOne) {
  directory_.write("next.json", kTwoTools);
  ScriptedClient client(setup("echo compiling; cp next.json tools.json"));
  client.open();
  const long before = client.child_pid();
  client.call(1, "sleep", {{"ms", 300}});
  const std::string text = client.text_of_call("sitter_rebuild");
  EXPECT_THAT(text, AllOf(StartsWith("[mcp-sitter] the build succeeded after"),
                          HasSubstr("server restarted (spawn #2"), HasSubstr("previous: replaced"),
                          HasSubstr("+1 added (find)"), HasSubstr("compiling")));
  // The old server has finished the call that it had.
  EXPECT_THAT(text_of(client.answer(1)["result"]), EndsWith("\nslept"));
  EXPECT_NE(client.child_pid(), before);
  EXPECT_TRUE(ends(before));
  EXPECT_EQ(client.end(), 0);
}

TEST_F(Rebuild, AKillMayStartTheServerAgainAtOnce) {
  directory_.write("server.sh", "exec " + fake_in_shell("--tools tools.json"));
  ScriptedClient client({.options = {"--cwd", directory_.path()}, .command = {"sh", "server.sh"}});
  EXPECT_THAT(client.open()["instructions"].get<std::string>(),
              HasSubstr(R"(After an edit, call sitter_kill {"restart": true};)"));
  // The server answers in order, so the list of its tools was taken before.
  EXPECT_EQ(client.echo("a"), "a");
  const long before = client.child_pid();
  directory_.write("tools.json", kTwoTools);
  EXPECT_THAT(client.text_of_call("sitter_kill", {{"restart", true}}),
              AllOf(HasSubstr("server restarted (spawn #2"), HasSubstr("+1 added (find)")));
  EXPECT_NE(client.child_pid(), before);
}

TEST_F(Rebuild, AFailedBuildLeavesTheServerRunning) {
  ScriptedClient client(setup("echo compiling; echo 'a.c:1: error: no' >&2; exit 2"));
  client.open();
  const long before = client.child_pid();
  const Json result = client.result_of("sitter_rebuild");
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result),
              AllOf(HasSubstr("the build failed (exit 2)"),
                    HasSubstr("\n1 error:\na.c:1: error: no\nOther lines:\ncompiling")));
  EXPECT_EQ(client.child_pid(), before);
}

TEST_F(Rebuild, AServerThatDoesNotExistIsBuiltBeforeItsFirstStart) {
  ScriptedClient::Setup missing = setup(
      "test -f ready || { echo 'a.c:1: error: no'; exit 2; }; cp '" + fake_mcp() + "' server");
  missing.command = {"./server", "--tools", "tools.json"};
  ScriptedClient client(missing);
  const Json opened = client.open();
  EXPECT_THAT(opened.value("instructions", ""),
              AllOf(HasSubstr("it is not built yet, and the build failed (exit 2)"),
                    HasSubstr("\n1 error:\na.c:1: error: no\n")));
  const Json result = client.result_of("echo");
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), HasSubstr("\n1 error:\na.c:1: error: no\n"));
  directory_.write("ready", "");
  EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}), HasSubstr("a"));
  EXPECT_EQ(client.end(), 0);

  // This client finds no server either, and its opening waits for the build.
  std::filesystem::remove(directory_ / "server");
  ScriptedClient other(missing);
  EXPECT_NE(other.open()["serverInfo"]["name"], "mcp-sitter");
}

TEST_F(Rebuild, AScriptThatDoesNotExistIsBuiltBeforeItsFirstStart) {
  directory_.write("server.in", "exec " + fake_in_shell("--tools tools.json"));
  ScriptedClient::Setup chosen = setup("mkdir -p dist && cp server.in dist/server.sh");
  chosen.command = {"sh", "dist/server.sh"};
  ScriptedClient client(chosen);
  EXPECT_EQ(client.open()["serverInfo"]["name"], "fake-mcp");
  EXPECT_EQ(client.status()["binaryPath"], directory_ / "dist/server.sh");
}

TEST_F(Rebuild, AServerThatDoesNotComeUpLeavesTheOldOneRunning) {
  ScriptedClient client(setup("echo 'no list' > tools.json"));
  client.open();
  const long before = client.child_pid();
  const Json result = client.result_of("sitter_rebuild");
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result),
              AllOf(HasSubstr("the build succeeded after"), HasSubstr("it ended (exit 1)"),
                    HasSubstr("serves on"), Not(HasSubstr("kill-first"))));
  EXPECT_EQ(client.child_pid(), before);
}

TEST_F(Rebuild, KillFirstBuildsWhileNothingRuns) {
  ScriptedClient client(setup("kill -0 $(cat pid) 2>/dev/null && echo alive || echo gone"));
  client.open();
  directory_.write("pid", std::to_string(client.child_pid()));
  EXPECT_THAT(client.text_of_call("sitter_rebuild"), HasSubstr("\nalive"));
  directory_.write("pid", std::to_string(client.child_pid()));
  EXPECT_THAT(client.text_of_call("sitter_rebuild", {{"mode", "kill-first"}}),
              AllOf(HasSubstr("spawn #3"), HasSubstr("\ngone")));
}

TEST_F(Rebuild, ItIsRunInADirectoryOfItsOwnWithoutInput) {
  TemporaryDirectory elsewhere;
  ScriptedClient client(setup("pwd; cat; echo input ended", {"--build-cwd", elsewhere.path()}));
  client.open();
  EXPECT_THAT(client.text_of_call("sitter_rebuild"),
              HasSubstr("\n" + elsewhere.path() + "\ninput ended"));
}

TEST_F(Rebuild, ProgressShowsWhatItWrites) {
  ScriptedClient client(setup("echo compiling"));
  client.open();
  client.request(7, "tools/call",
                 {{"name", "sitter_rebuild"}, {"_meta", {{"progressToken", "p"}}}});
  const Json progress = client.heard("notifications/progress")["params"];
  EXPECT_EQ(progress["progressToken"], "p");
  EXPECT_EQ(progress["message"], "compiling");
  client.answer(7);
}

TEST_F(Rebuild, CancellingStopsAllThatItHasStarted) {
  ScriptedClient client(
      setup("sleep 1000 & echo $! > one; sh -c 'trap \"\" TERM; echo $$ > two; "
            "while :; do sleep 1000; done'"));
  client.open();
  client.call(1, "sitter_rebuild");
  const long one = number_in(directory_ / "one");
  const long two = number_in(directory_ / "two");
  ASSERT_TRUE(is_alive(one));
  ASSERT_TRUE(is_alive(two));
  client.send(
      R"json({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})json");
  EXPECT_TRUE(ends(one));
  EXPECT_TRUE(ends(two));
  EXPECT_TRUE(eventually([&] { return client.status()["build"]["running"] == false; }));
  EXPECT_EQ(client.status()["build"]["lastResult"], "stopped");
}

TEST_F(Rebuild, ADaemonOfTheBuildIsLeftAlone) {
  // Gradle, Bazel and sccache start such daemons, which make the next build faster.
  ScriptedClient client(
      setup("setsid sh -c 'echo $$ > daemon; exec sleep 1000' > /dev/null 2>&1 & "
            "while ! test -s daemon; do sleep 0.01; done"));
  client.open();
  EXPECT_THAT(client.text_of_call("sitter_rebuild"), HasSubstr("spawn #2"));
  client.expect_left_alone(number_in(directory_ / "daemon"));
}

TEST_F(Rebuild, ADaemonOfTheBuildSurvivesAKillOfTheBridge) {
  // macOS may hide the environment of its own programs, such as sleep.
  directory_.write_script("start", "echo $$ > daemon; exec " + fake_in_shell("--ignore-eof"));
  ScriptedClient client(
      setup("setsid ./start > /dev/null 2>&1 & echo $$ > build; exec sleep 1000"));
  client.open();
  client.call(1, "sitter_rebuild");
  const long daemon = number_in(directory_ / "daemon");
  const long build = number_in(directory_ / "build");
  ASSERT_TRUE(is_alive(build));
  client.program().signal(SIGKILL);
  EXPECT_TRUE(ends(build));
  client.program().wait();
  EXPECT_TRUE(eventually([&] { return client.living() == std::vector<long>{daemon}; }));
  EXPECT_TRUE(is_alive(daemon));
  kill(static_cast<pid_t>(daemon), SIGKILL);
}

TEST_F(Rebuild, ASignalToTheBridgeStopsTheBuild) {
  ScriptedClient client(setup("echo $$ > build; exec sleep 1000"));
  client.open();
  client.call(1, "sitter_rebuild");
  const long build = number_in(directory_ / "build");
  ASSERT_TRUE(is_alive(build));
  client.program().signal(SIGTERM);
  EXPECT_EQ(client.program().wait(), 143);
  EXPECT_FALSE(is_alive(build));
}

TEST_F(Rebuild, AFloodIsBoundedAndItsErrorsAreShown) {
  ScriptedClient client(
      setup("echo 'x.c:1: error: here'; "
            "yes " +
            std::string(99, 'x') + " | head -c 60000000; exit 1"));
  client.open();
  const Json result = client.result_of("sitter_rebuild");
  EXPECT_THAT(text_of(result),
              AllOf(HasSubstr("the build failed (exit 1)"), HasSubstr("lines left out]")));
  EXPECT_LT(text_of(result).size(), 20'000u);
  EXPECT_LT(client.text_of_call("sitter_build_log", {{"lines", 20000}}).size(), 1'200'000u);
}

TEST_F(Rebuild, ControlSequencesAreTakenOut) {
  ScriptedClient client(setup("printf '\\033[31mred\\033[0m\\n'"));
  client.open();
  EXPECT_THAT(client.text_of_call("sitter_rebuild"),
              AllOf(HasSubstr("\nred"), Not(HasSubstr("\033"))));
}

TEST_F(Rebuild, ToolsMayHaveOtherNames) {
  ScriptedClient client(setup("true", {"--tool-name", "rebuild=recompile"}));
  client.open();
  client.request(1, "tools/list");
  const std::string tools = client.answer(1).dump();
  EXPECT_THAT(tools, AllOf(HasSubstr("\"recompile\""), Not(HasSubstr("\"sitter_rebuild\""))));
  EXPECT_THAT(client.text_of_call("recompile"), HasSubstr("spawn #2"));
}

TEST_F(Rebuild, AHangupSignalReloads) {
  directory_.write("next.json", kTwoTools);
  ScriptedClient client(setup("cp next.json tools.json"));
  client.open();
  client.request(1, "tools/list");
  client.answer(1);
  client.program().signal(SIGHUP);
  client.heard("notifications/tools/list_changed");
  EXPECT_THAT(client.text_of_call("find"),
              AllOf(HasSubstr("spawn #2"), HasSubstr("+1 added (find)")));
}

TEST_F(Rebuild, AHangupSignalRestartsWhereNothingIsBuilt) {
  ScriptedClient client;
  client.open();
  const long before = client.child_pid();
  client.program().signal(SIGHUP);
  EXPECT_TRUE(ends(before));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}), HasSubstr("spawn #2"));
}

TEST_F(Rebuild, AUserSignalShowsTheStatus) {
  ScriptedClient client;
  client.open();
  client.program().signal(SIGUSR1);
  EXPECT_TRUE(client.program().shows_error("\"childState\": \"ready\""));
}

}  // namespace
}  // namespace sitter::testing
