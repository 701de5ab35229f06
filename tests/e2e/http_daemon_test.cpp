#include "support/http_daemon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"
#include "support/tool_files.hpp"

// The server is a daemon that the bridge starts if nothing listens.

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class StartedDaemon : public ::testing::Test {
 protected:
  StartedDaemon() { directory_.write("tools.json", kOneTool); }

  /// A bridge that may start the daemon. The daemon takes its tools from a file.
  ScriptedClient::Setup setup(std::vector<std::string> options = {},
                              const std::vector<std::string>& flags = {}) const {
    options.insert(options.end(), {"--cwd", directory_.path()});
    ScriptedClient::Setup setup = bridge_to(port_.url(), std::move(options));
    setup.command = fake({"--http", std::to_string(port_.number()), "--http-journal",
                          directory_ / "journal", "--tools", "tools.json"});
    setup.command.insert(setup.command.end(), flags.begin(), flags.end());
    setup.environment = {"XDG_RUNTIME_DIR=" + runtime_.path()};
    return setup;
  }

  /// A bridge to the same address that may not start anything.
  ScriptedClient::Setup visitor() const { return bridge_to(port_.url()); }

  std::vector<Json> journal() const { return http_journal(directory_ / "journal"); }

  /// Opens the session, and waits until the lists are known with which later ones are compared.
  static void open_and_list(ScriptedClient& client) {
    client.open();
    client.request("list", "tools/list");
    client.answer("list");
  }

  static void end_daemon(long pid) { ::kill(static_cast<pid_t>(pid), SIGKILL); }

  /// The living processes that keep the outputs of a daemon open after the end of its bridge.
  static std::vector<long> drains(const ScriptedClient& client) {
    std::vector<long> pids = client.living();
    std::erase_if(pids, [](long pid) { return title_of(pid) != "sitter-drain"; });
    return pids;
  }

  /// The files that a daemon leaves for the next bridge.
  std::vector<std::string> records() const {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(runtime_ / "mcp-sitter", none)) {
      if (file.path().extension() != ".sock") found.push_back(file.path());
    }
    return found;
  }

  HeldPort port_;
  TemporaryDirectory directory_, runtime_;
};

TEST_F(StartedDaemon, IsStartedIfNothingListens) {
  ScriptedClient client(setup({"--own-daemon"}));
  EXPECT_EQ(client.open()["serverInfo"]["name"], "fake-mcp");
  EXPECT_EQ(client.echo("hello"), "hello");
  EXPECT_EQ(client.child_state()["pid"], client.child_pid());
  EXPECT_THAT(client.text_of_call("sitter_child_stderr"), HasSubstr("listening on 127.0.0.1"));
}

TEST_F(StartedDaemon, IsNotStartedIfOneListens) {
  HttpDaemon other;
  other.start();
  ScriptedClient::Setup setup = bridge_to(other.url());
  setup.command = {directory_.write_script("start", "touch '" + (directory_ / "started") + "'")};
  ScriptedClient client(setup);
  client.open();
  EXPECT_EQ(client.child_state()["pid"], other.program().pid());
  EXPECT_EQ(client.end(), 0);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "started"));
  EXPECT_FALSE(other.program().has_ended());
}

TEST_F(StartedDaemon, ThatCannotStartIsToldWithExitAndStderr) {
  ScriptedClient client(
      setup({"--own-daemon"}, {"--stderr", "no database", "--exit-at-start", "3"}));
  EXPECT_THAT(client.open().value("instructions", ""),
              AllOf(HasSubstr("exit 3"), HasSubstr("no database")));
}

TEST_F(StartedDaemon, ThatDoesNotExistIsBuiltFirst) {
  ScriptedClient::Setup missing =
      setup({"--own-daemon", "--build", "cp '" + fake_mcp() + "' server"});
  missing.command.front() = "./server";
  ScriptedClient client(missing);
  EXPECT_EQ(client.open()["serverInfo"]["name"], "fake-mcp");
  EXPECT_THAT(client.echo("hello"), HasSubstr("hello"));
}

TEST_F(StartedDaemon, ACrashInACallIsToldWithExitAndStderr) {
  ScriptedClient client(setup({"--own-daemon"}));
  client.open();
  const Json result = client.result_of("crash", {{"code", 3}, {"stderr", "no more memory"}});
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), AllOf(HasSubstr("exit 3"), HasSubstr("no more memory"),
                                     HasSubstr("may or may not have taken effect")));
  EXPECT_THAT(client.echo("back"), AllOf(HasSubstr("server restarted (spawn #2, pid "),
                                         HasSubstr("crashed (exit 3"), HasSubstr("back")));
}

TEST_F(StartedDaemon, ThatForgetsTheSessionIsOpenedAgainAndNotStarted) {
  ScriptedClient client(setup({"--own-daemon"}, {"--http-status", "tools/call=404x1"}));
  client.open();
  const long pid = client.child_pid();
  EXPECT_THAT(client.echo("hello"), HasSubstr("hello"));
  EXPECT_EQ(client.child_pid(), pid);
  EXPECT_EQ(client.child_state()["pid"], pid);
}

TEST_F(StartedDaemon, AKillEndsIt) {
  ScriptedClient client(setup({"--own-daemon", "--kill-grace", "50"}, {"--ignore-term"}));
  client.open();
  const long before = client.child_pid();
  EXPECT_THAT(client.text_of_call("sitter_kill"), HasSubstr(std::to_string(before)));
  EXPECT_TRUE(ends(before));
  EXPECT_THAT(client.echo("back"), HasSubstr("back"));
  EXPECT_NE(client.child_pid(), before);
}

TEST_F(StartedDaemon, ARebuildStartsItWithItsNewTools) {
  directory_.write("next.json", kTwoTools);
  ScriptedClient client(
      setup({"--own-daemon", "--build", "echo compiling; cp next.json tools.json"}));
  open_and_list(client);
  const long before = client.child_pid();
  EXPECT_THAT(client.text_of_call("sitter_rebuild"),
              AllOf(StartsWith("[mcp-sitter] the build succeeded after"),
                    HasSubstr("server restarted (spawn #2"), HasSubstr("+1 added (find)"),
                    HasSubstr("compiling")));
  EXPECT_NE(client.child_pid(), before);
  EXPECT_FALSE(is_alive(before));
  EXPECT_EQ(client.echo("hello"), "hello");
}

TEST_F(StartedDaemon, ARebuildLeavesAnswersToThoseWhoWait) {
  ScriptedClient client(setup({"--own-daemon", "--build", "true"}));
  client.open();
  client.call(1, "sleep", {{"ms", 200}});
  EXPECT_TRUE(eventually([&] { return !journal().empty() && journal().back()["id"] == 1; }));
  EXPECT_THAT(client.text_of_call("sitter_rebuild"), HasSubstr("server restarted (spawn #2"));
  EXPECT_THAT(text_of(client.answer(1)["result"]), EndsWith("\nslept"));
}

TEST_F(StartedDaemon, AFailedBuildLeavesItRunning) {
  ScriptedClient client(setup({"--own-daemon", "--build", "echo 'a.c:1: error: no'; exit 2"}));
  client.open();
  const long before = client.child_pid();
  EXPECT_THAT(client.text_of_call("sitter_rebuild"), HasSubstr("the build failed (exit 2)"));
  EXPECT_EQ(client.child_pid(), before);
  EXPECT_EQ(client.echo("hello"), "hello");
}

TEST_F(StartedDaemon, ASaveStartsItAnew) {
  ScriptedClient client(setup({"--own-daemon", "--watch", "tools.json", "--debounce", "30"}));
  open_and_list(client);
  const long before = client.child_pid();
  directory_.write("tools.json", kTwoTools);
  client.heard("notifications/tools/list_changed");
  EXPECT_TRUE(ends(before));
  EXPECT_THAT(client.echo("hello"), AllOf(HasSubstr("+1 added (find)"), HasSubstr("hello")));
}

/// How a bridge ends.
enum class End { close, terminate, kill };

class AfterTheBridge : public StartedDaemon, public ::testing::WithParamInterface<End> {
 protected:
  static void end(ScriptedClient& client) {
    if (GetParam() == End::close) {
      EXPECT_EQ(client.end(), 0);
    } else {
      const int signal = GetParam() == End::kill ? SIGKILL : SIGTERM;
      client.program().signal(signal);
      EXPECT_EQ(client.program().wait(), 128 + signal);
    }
  }
};

TEST_P(AfterTheBridge, ItLivesOnAndMayWrite) {
  ScriptedClient client(setup());
  client.open();
  const long daemon = client.child_pid();
  end(client);
  ASSERT_TRUE(is_alive(daemon));
  {
    ScriptedClient next(visitor());
    next.open();
    // More than a pipe holds.
    next.text_of_call("stderr", {{"text", std::string(100, 'x')}, {"lines", 5000}});
    EXPECT_EQ(next.child_state()["pid"], daemon);
  }
  EXPECT_TRUE(is_alive(daemon));
  EXPECT_THAT(drains(client), SizeIs(1));
  end_daemon(daemon);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_P(AfterTheBridge, TheNextSessionHasItAgain) {
  ScriptedClient client(setup());
  client.open();
  const long daemon = client.child_pid();
  end(client);
  {
    ScriptedClient visit(visitor());
    visit.open();
    visit.text_of_call("stderr", {{"text", "between"}});
    EXPECT_THAT(visit.text_of_call("sitter_kill"), HasSubstr("was not started"));
  }
  ScriptedClient next(setup({"--kill-grace", "50"}));
  next.open();
  EXPECT_EQ(next.child_pid(), daemon);
  next.text_of_call("stderr", {{"text", "after"}});
  EXPECT_TRUE(eventually([&] {
    return next.text_of_call("sitter_child_stderr").find("\nafter") != std::string::npos;
  }));
  EXPECT_THAT(next.text_of_call("sitter_child_stderr"), HasSubstr("between\n"));
  EXPECT_THAT(next.text_of_call("sitter_kill"), HasSubstr(std::to_string(daemon)));
  EXPECT_TRUE(ends(daemon));
  EXPECT_THAT(next.echo("hello"), HasSubstr("previous: killed by sitter_kill"));
  const long second = next.child_pid();
  EXPECT_NE(second, daemon);
  end(next);
  EXPECT_THAT(records(), SizeIs(2));
  end_daemon(second);
  EXPECT_TRUE(next.leaves_nothing());
  EXPECT_TRUE(eventually([&] { return records().empty(); }));
}

TEST_P(AfterTheBridge, AnOwnDaemonEnds) {
  ScriptedClient client(setup({"--own-daemon"}));
  client.open();
  const long daemon = client.child_pid();
  EXPECT_THAT(drains(client), IsEmpty());
  end(client);
  EXPECT_TRUE(ends(daemon));
  EXPECT_TRUE(client.leaves_nothing());
}

INSTANTIATE_TEST_SUITE_P(, AfterTheBridge, ::testing::Values(End::close, End::terminate, End::kill),
                         [](const auto& one) {
                           return one.param == End::close       ? "WhoseClientHasGone"
                                  : one.param == End::terminate ? "ThatWasTerminated"
                                                                : "ThatWasKilled";
                         });

TEST_F(StartedDaemon, OfAnEarlierSessionIsOldCodeIfItsFileHasChanged) {
  ScriptedClient::Setup server = setup();
  server.command.front() = directory_.copy_program("server", fake_mcp());
  ScriptedClient client(server);
  client.open();
  EXPECT_EQ(client.end(), 0);
  std::filesystem::rename(directory_.copy_program("new", fake_mcp()), directory_ / "server");
  ScriptedClient next(server);
  next.open();
  EXPECT_EQ(next.status()["binaryStale"], true);
  next.text_of_call("sitter_kill");
  next.echo("hello");
  EXPECT_EQ(next.status()["binaryStale"], false);
  const long daemon = next.child_pid();
  EXPECT_EQ(next.end(), 0);
  end_daemon(daemon);
  EXPECT_TRUE(next.leaves_nothing());
}

TEST_F(StartedDaemon, OfAnEarlierSessionIsOldCodeAlsoBehindAShell) {
  ScriptedClient::Setup server = setup();
  server.command.front() = directory_.copy_program("server", fake_mcp());
  std::string line;
  for (const std::string& word : server.command) line += word + " ";
  server.command = {"sh", "-c", line + "; true"};
  ScriptedClient client(server);
  client.open();
  client.echo("hello");
  EXPECT_EQ(client.end(), 0);
  std::filesystem::rename(directory_.copy_program("new", fake_mcp()), directory_ / "server");
  ScriptedClient next(server);
  next.open();
  EXPECT_EQ(next.status()["binaryStale"], true);
  next.text_of_call("sitter_kill");
  EXPECT_EQ(next.end(), 0);
  EXPECT_TRUE(next.leaves_nothing());
}

TEST_F(StartedDaemon, OfAnEarlierSessionEndsWithItsNewOwnerAndItsExitIsSeen) {
  ScriptedClient client(setup());
  client.open();
  const long daemon = client.child_pid();
  EXPECT_EQ(client.end(), 0);
  ScriptedClient next(setup({"--own-daemon"}));
  next.open();
  next.call(1, "hang");
  EXPECT_TRUE(eventually([&] { return !journal().empty() && journal().back()["id"] == 1; }));
  end_daemon(daemon);
  EXPECT_THAT(text_of(next.answer(1)["result"]), HasSubstr("exit code unknown"));
  EXPECT_TRUE(eventually([&] { return records().empty(); }));
  next.echo("hello");
  const long second = next.child_pid();
  EXPECT_EQ(next.end(), 0);
  EXPECT_TRUE(ends(second));
}

TEST_F(StartedDaemon, OfALivingSessionIsTakenOverOnlyAfterItsEnd) {
  ScriptedClient first(setup());
  first.open();
  const long daemon = first.child_pid();
  ScriptedClient second(setup({"--kill-grace", "50"}));
  second.open();
  EXPECT_THAT(second.text_of_call("sitter_kill"), HasSubstr("was not started"));
  EXPECT_TRUE(is_alive(daemon));
  EXPECT_EQ(first.end(), 0);
  second.text_of_call("sitter_kill");
  second.echo("hello");
  EXPECT_EQ(second.child_pid(), daemon);
  EXPECT_THAT(second.text_of_call("sitter_kill"), HasSubstr(std::to_string(daemon)));
  EXPECT_TRUE(ends(daemon));
  EXPECT_EQ(second.end(), 0);
  EXPECT_TRUE(first.leaves_nothing());
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(StartedDaemon, WhoseRecordIsWrongIsAStranger) {
  ScriptedClient client(setup());
  client.open();
  const long daemon = client.child_pid();
  EXPECT_EQ(client.end(), 0);
  const std::string record = runtime_ / ("mcp-sitter/" + std::to_string(daemon) + ".daemon");
  std::ifstream file(record);
  Json json = Json::parse(file, nullptr, false);
  ASSERT_TRUE(json.is_object());
  // The same command at another address says nothing about this one.
  json["url"] = "http://127.0.0.1:1/mcp";
  for (int round = 0; round < 2; ++round) {
    std::ofstream(record) << json;
    ScriptedClient next(setup());
    next.open();
    EXPECT_EQ(next.status()["childPid"], nullptr);
    EXPECT_EQ(std::filesystem::exists(record), round == 0);
    EXPECT_EQ(next.end(), 0);
    json["url"] = port_.url();
    json["start"] = 1;
  }
  EXPECT_THAT(records(), IsEmpty());
  end_daemon(daemon);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_F(StartedDaemon, NothingOfADaemonThatHasEndedIsLeft) {
  ScriptedClient client(setup());
  client.open();
  const std::size_t with_one = children_of(client.program().pid()).size();
  for (int count = 0; count < 3; ++count) {
    end_daemon(client.child_pid());
    ASSERT_TRUE(eventually([&] { return client.status()["childAlive"] == false; }));
    EXPECT_THAT(client.echo("back"), HasSubstr("back"));
  }
  EXPECT_TRUE(eventually([&] {
    return children_of(client.program().pid()).size() == with_one && drains(client).size() == 1;
  }));
  const long daemon = client.child_pid();
  EXPECT_EQ(client.end(), 0);
  end_daemon(daemon);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_F(StartedDaemon, ASecondBridgeFindsItAndDoesNotEndIt) {
  ScriptedClient first(setup({"--own-daemon", "--build", "true"}));
  first.open();
  const long daemon = first.child_pid();
  ScriptedClient second(setup({"--own-daemon", "--build", "true"}));
  second.open();
  EXPECT_EQ(second.child_state()["pid"], daemon);
  EXPECT_THAT(second.text_of_call("sitter_kill"), HasSubstr("was not started"));
  EXPECT_TRUE(is_alive(daemon));
  EXPECT_EQ(first.echo("one"), "one");
  EXPECT_THAT(second.echo("two"), HasSubstr("two"));
  EXPECT_EQ(second.end(), 0);
  EXPECT_EQ(first.child_pid(), daemon);
}

TEST_F(StartedDaemon, ASecondBridgeNoticesARebuildOfTheFirst) {
  directory_.write("next.json", kTwoTools);
  ScriptedClient first(setup({"--own-daemon", "--build", "cp next.json tools.json"}));
  open_and_list(first);
  ScriptedClient second(visitor());
  open_and_list(second);
  EXPECT_THAT(first.text_of_call("sitter_rebuild"), HasSubstr("+1 added (find)"));
  EXPECT_THAT(second.echo("two"), AllOf(HasSubstr("+1 added (find)"), HasSubstr("two")));
}

}  // namespace
}  // namespace sitter::testing
