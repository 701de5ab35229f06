#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/processes.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

void kill_now(long pid) { ::kill(static_cast<pid_t>(pid), SIGKILL); }

std::string text_of_answer(const Json& whole) {
  EXPECT_TRUE(whole.contains("result")) << whole.dump();
  return text_of(whole.value("result", Json::object()));
}

TEST(Death, RequestsInFlightAtAKillAreAnsweredWithTheReason) {
  ScriptedClient client;
  client.open();
  client.call(1, "hang");
  client.call(2, "hang");
  client.request(3, "unknown/method");
  client.answer(3);
  kill_now(client.child_pid());
  EXPECT_THAT(text_of_answer(client.answer(1)),
              AllOf(HasSubstr("SIGKILL"), HasSubstr("may or may not have taken effect")));
  EXPECT_EQ(client.answer(2)["result"]["isError"], true);
  EXPECT_THAT(client.text_of_call("echo", {{"text", "again"}}),
              AllOf(StartsWith("[mcp-sitter] server restarted (spawn #2"),
                    HasSubstr("previous: ⚠ crashed (SIGKILL"), HasSubstr("\nagain")));
}

TEST(Death, CallSentAMomentAfterAKillIsAnswered) {
  ScriptedClient client;
  client.open();
  for (int round = 1; round <= 30; ++round) {
    const long pid = client.child_pid();
    kill_now(pid);
    client.call(round, "echo", {{"text", "here"}});
    EXPECT_THAT(text_of_answer(client.answer(round)),
                ::testing::AnyOf(HasSubstr("SIGKILL"), HasSubstr("here")));
    // If the death has answered the last call, no child runs, and this call starts one.
    client.text_of_call("echo");
  }
}

TEST(Death, CallBehindOneThatCrashesIsAnswered) {
  ScriptedClient client;
  client.open();
  for (int round = 1; round <= 30; ++round) {
    client.call(2 * round, "crash", {{"code", 7}});
    client.call(2 * round + 1, "echo", {{"text", "here"}});
    EXPECT_THAT(text_of_answer(client.answer(2 * round)), HasSubstr("exit 7"));
    EXPECT_THAT(text_of_answer(client.answer(2 * round + 1)),
                ::testing::AnyOf(HasSubstr("exit 7"), HasSubstr("here")));
  }
}

TEST(Death, ReportHoldsTheLastWords) {
  ScriptedClient client;
  client.open();
  const Json crashed =
      client.result_of("crash", {{"signal", "SEGV"}, {"stderr", "index out of range"}});
  EXPECT_EQ(crashed["isError"], true);
  EXPECT_THAT(text_of(crashed), AllOf(HasSubstr("SIGSEGV"), HasSubstr("index out of range")));
  EXPECT_THAT(client.text_of_call("sitter_child_stderr"), HasSubstr("index out of range"));
}

TEST(Death, TheReportNamesTheCoreDumpOfAProgramBehindAShell) {
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  const bool is_beside = pattern == "core" && limit.rlim_max == RLIM_INFINITY;
  for (const std::string& how : {"exec " + fake_in_shell(), fake_in_shell() + "; exit $?"}) {
    const TemporaryDirectory folder;
    ScriptedClient client(
        {.command = {"sh", "-c", "ulimit -c unlimited; " + how}, .cwd = folder.path()});
    client.open();
    client.echo("here");
    client.call(1, "hang");
    const long shell = client.child_pid();
    const std::vector<long> behind = children_of(shell);
    ::kill(static_cast<pid_t>(behind.empty() ? shell : behind.front()), SIGSEGV);
    EXPECT_THAT(
        text_of_answer(client.answer(1)),
        AllOf(HasSubstr("core dump"), HasSubstr(is_beside ? ": gdb " + fake_mcp() + " " : "")));
  }
}

TEST(Death, OtherRequestsGetAnErrorWithTheSame) {
  ScriptedClient client({.command = fake({"--stderr", "no table", "--exit-on", "custom/do=4"})});
  client.open();
  client.request(1, "custom/do");
  const Json error = client.answer(1)["error"];
  EXPECT_EQ(error["code"], -32603);
  EXPECT_THAT(error["message"], HasSubstr("exit 4"));
  EXPECT_THAT(error["data"]["stderr"], HasSubstr("no table"));
}

TEST(Death, AnswerWrittenJustBeforeTheExitCounts) {
  ScriptedClient client;
  client.open();
  for (int round = 1; round <= 20; ++round) {
    client.text_of_call("echo");
    const Json result = client.result_of("answer_then_exit", {{"code", 3}});
    EXPECT_THAT(text_of(result), HasSubstr("last words"));
    EXPECT_FALSE(result.contains("isError"));
    // Until the end of this child is known, the next call would go to it.
    EXPECT_TRUE(eventually([&] { return client.status()["childAlive"] == false; }));
  }
}

TEST(Death, PureReadsGoToTheNextChild) {
  ScriptedClient client({.command = fake({"--everything"})});
  client.open();
  const long first = client.child_pid();
  ::kill(static_cast<pid_t>(first), SIGSTOP);
  client.request(1, "tools/list");
  client.request(2, "resources/read", {{"uri", "fake://one"}});
  kill_now(first);
  EXPECT_TRUE(client.answer(1)["result"]["tools"].is_array());
  EXPECT_TRUE(client.answer(2)["result"]["contents"].is_array());
  // A request for a list had this id when the child died. The answer to a later call with this id
  // must not be read as a list.
  client.call(1, "structured");
  EXPECT_FALSE(client.answer(1)["result"].contains("tools"));
}

TEST(Death, AKilledChildIsNeverCalledCrashed) {
  ScriptedClient client({.options = {"--kill-grace", "20"}, .command = fake({"--ignore-eof"})});
  client.open();
  for (int round = 1; round <= 10; ++round) {
    client.call(round, "hang");
    const Json report = Json::parse(client.text_of_call("sitter_kill"));
    EXPECT_EQ(report["count"], 1);
    EXPECT_EQ(report["killed"][0]["relation"], "child");
    EXPECT_THAT(text_of_answer(client.answer(round)),
                AllOf(HasSubstr("killed by sitter_kill"), Not(HasSubstr("crash"))));
    EXPECT_THAT(client.text_of_call("echo"),
                AllOf(HasSubstr("previous: killed by sitter_kill"), Not(HasSubstr("crash"))));
  }
  EXPECT_EQ(client.status()["killCount"], 10);
}

TEST(Death, CallBehindAKillWaitsForItsEndAndStartsTheNext) {
  ScriptedClient client({.options = {"--kill-grace", "20"}, .command = fake({"--ignore-eof"})});
  client.open();
  for (int round = 1; round <= 5; ++round) {
    client.call(1, "sitter_kill");
    client.call(2, "echo", {{"text", "next"}});
    EXPECT_EQ(Json::parse(text_of_answer(client.answer(1)))["count"], 1);
    EXPECT_THAT(text_of_answer(client.answer(2)),
                AllOf(HasSubstr("previous: killed by sitter_kill"), HasSubstr("\nnext")));
  }
}

TEST(Death, ChildThatClosesStdinButLivesIsTakenDown) {
  ScriptedClient client({.options = {"--kill-grace", "20"}});
  client.open();
  const long child = client.child_pid();
  client.text_of_call("close_stdin");
  EXPECT_THAT(client.text_of_call("echo"), HasSubstr("closed its stdin"));
  EXPECT_FALSE(is_alive(child));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "next"}}), HasSubstr("next"));
}

TEST(Death, KillSendsSigtermBeforeSigkill) {
  ScriptedClient client({.options = {"--kill-grace", "1000"}, .command = fake({"--ignore-eof"})});
  client.open();
  const Json report = Json::parse(client.text_of_call("sitter_kill"));
  EXPECT_EQ(report["killed"][0]["how"], "SIGTERM");
}

TEST(Death, KillTakesAChildThatIgnoresEverything) {
  ScriptedClient client(
      {.options = {"--kill-grace", "20"}, .command = fake({"--ignore-eof", "--ignore-term"})});
  client.open();
  const long pid = client.child_pid();
  const Json report = Json::parse(client.text_of_call("sitter_kill"));
  EXPECT_EQ(report["killed"][0]["pid"], pid);
  EXPECT_EQ(report["killed"][0]["how"], "SIGKILL");
  EXPECT_FALSE(is_alive(pid));
}

TEST(Death, KillOfADeadChildReportsNothing) {
  ScriptedClient client;
  client.open();
  client.result_of("crash");
  EXPECT_EQ(Json::parse(client.text_of_call("sitter_kill"))["count"], 0);
}

TEST(Death, CancelsTheRequestsOfADeadChild) {
  ScriptedClient client;
  client.open();
  client.call(1, "ask", {{"method", "roots/list"}});
  const Json question = client.heard("roots/list");
  kill_now(client.child_pid());
  client.answer(1);
  EXPECT_EQ(client.heard("notifications/cancelled")["params"]["requestId"], question["id"]);

  // The next child asks the same question in the same way. It must not get the late answer to the
  // first question.
  client.call(2, "ask", {{"method", "roots/list"}});
  const Json second = client.heard("roots/list");
  EXPECT_NE(second["id"], question["id"]);
  const auto roots = [](const Json& id, const std::string& name) {
    const Json root = {{"uri", "file:///" + name}};
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", {{"roots", Json::array({root})}}}}
        .dump();
  };
  client.send(roots(question["id"], "late"));
  client.send(roots(second["id"], "right"));
  EXPECT_THAT(text_of_answer(client.answer(2)),
              AllOf(HasSubstr("file:///right"), Not(HasSubstr("late"))));
}

TEST(Death, PingsAndNotificationsDoNotStartTheNextChild) {
  ScriptedClient client;
  client.open();
  client.result_of("crash");
  client.request(1, "ping");
  client.notify("notifications/cancelled", {{"requestId", 77}});
  client.notify("notifications/roots/list_changed");
  client.send(R"json({"jsonrpc":"2.0","id":5,"result":{}})json");
  EXPECT_EQ(client.answer(1)["result"], Json::object());
  const Json status = client.status();
  EXPECT_EQ(status["spawnCount"], 1);
  EXPECT_EQ(status["childAlive"], false);
  EXPECT_EQ(status["childPid"], nullptr);
}

TEST(Death, ChildThatClosesStdoutButLivesIsTakenDown) {
  ScriptedClient client(
      {.options = {"--kill-grace", "20"}, .command = fake({"--ignore-eof", "--ignore-term"})});
  client.open();
  const long pid = client.child_pid();
  EXPECT_THAT(client.text_of_call("close_stdout"), HasSubstr("closed its stdout"));
  EXPECT_FALSE(is_alive(pid));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "next"}}), HasSubstr("next"));
}

TEST(Death, GrandchildrenEndWithACrash) {
  ScriptedClient client({.options = {"--kill-grace", "20"}});
  client.open();
  const long same_session = std::stol(client.text_of_call("spawn", {{"ignore_term", true}}));
  const long own_session =
      std::stol(client.text_of_call("spawn", {{"ignore_term", true}, {"session", true}}));
  EXPECT_TRUE(is_alive(same_session) && is_alive(own_session));
  client.result_of("crash", {{"signal", "KILL"}});
  EXPECT_TRUE(ends(same_session));
  EXPECT_TRUE(ends(own_session));
}

TEST(Death, GrandchildrenEndWithAKill) {
  ScriptedClient client({.options = {"--kill-grace", "20"}});
  client.open();
  const long same_session = std::stol(client.text_of_call("spawn", {{"ignore_term", true}}));
  const long own_session =
      std::stol(client.text_of_call("spawn", {{"ignore_term", true}, {"session", true}}));
  const Json report = Json::parse(client.text_of_call("sitter_kill"));
  EXPECT_EQ(report["count"], 3) << report.dump();
  EXPECT_FALSE(is_alive(same_session));
  EXPECT_FALSE(is_alive(own_session));
}

TEST(Death, AWrapperNeverLeavesTheServerBehind) {
  ScriptedClient client(
      {.options = {"--kill-grace", "20"},
       .command = {"sh", "-c", fake_in_shell("--ignore-eof --ignore-term") + "; exit 1"}});
  client.open();
  const long server = client.child_state()["pid"].get<long>();
  EXPECT_NE(server, client.child_pid());
  const Json report = Json::parse(client.text_of_call("sitter_kill", {{"scope", "child"}}));
  EXPECT_FALSE(is_alive(server));
  EXPECT_EQ(report["killed"][1]["pid"], server) << report.dump();
  EXPECT_EQ(report["killed"][1]["how"], "SIGKILL");

  const long second = client.child_state()["pid"].get<long>();
  kill_now(client.child_pid());
  EXPECT_TRUE(ends(second)) << "the server outlived its wrapper";
  EXPECT_NE(client.child_state()["pid"], second);
}

TEST(Death, NothingIsLeftBehindByFiftyRespawns) {
  ScriptedClient client({.options = {"--kill-grace", "20"}});
  client.open();
  // The socket of ctl exists after the first answer.
  client.status();
  // The bridge, its keeper and the child.
  EXPECT_EQ(client.living().size(), 3);
  const std::size_t descriptors = descriptors_of(client.program().pid()).size();
  EXPECT_GT(descriptors, 3);
  for (int round = 1; round <= 50; ++round) {
    client.text_of_call("sitter_kill");
    EXPECT_THAT(client.text_of_call("echo", {{"text", "up"}}), HasSubstr("up"));
  }
  EXPECT_EQ(client.living().size(), 3);
  EXPECT_EQ(descriptors_of(client.program().pid()).size(), descriptors);
}

}  // namespace
}  // namespace sitter::testing
