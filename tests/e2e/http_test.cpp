#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/http_daemon.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"
#include "support/tool_files.hpp"

// The server is a daemon that the test starts and ends.

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kStateless = {"--era", "modern", "--everything"};

class HttpWith : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(HttpWith, ASessionIsOpenedUsedAndEnded) {
  HttpDaemon daemon(GetParam());
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  EXPECT_EQ(client.open()["serverInfo"]["name"], "fake-mcp");
  client.request(1, "tools/list");
  EXPECT_THAT(client.answer(1)["result"].dump(),
              AllOf(HasSubstr("\"echo\""), HasSubstr("sitter_status")));
  EXPECT_EQ(client.echo("one\ntwo"), "one\ntwo");
  EXPECT_EQ(client.echo("three"), "three");
  EXPECT_EQ(client.end(), 0);
  EXPECT_EQ(daemon.rows("method", "initialize").size(), 1u);
  EXPECT_EQ(daemon.rows("method", "tools/call").size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    , HttpWith,
    ::testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--http-sse"},
                      std::vector<std::string>{"--http-event-ids"},
                      std::vector<std::string>{"--http-multiline"},
                      std::vector<std::string>{"--http-multiline", "--http-sse"},
                      std::vector<std::string>{"--http-continue"},
                      std::vector<std::string>{"--http-close-each"},
                      std::vector<std::string>{"--http-no-session"},
                      std::vector<std::string>{"--http-no-get", "--http-no-delete"}),
    [](const auto& one) {
      std::string name;
      for (const std::string& flag : one.param) name += flag.substr(6);
      std::erase(name, '-');
      return name.empty() ? "Json" : name;
    });

TEST(Http, TheClientOfTheStatelessRevisionNeedsNoSession) {
  HttpDaemon daemon(kStateless);
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.speak_stateless();
  client.request(1, "tools/list");
  EXPECT_THAT(client.answer(1)["result"].dump(), HasSubstr("\"echo\""));
  EXPECT_EQ(client.echo("hello"), "hello");
  EXPECT_EQ(client.end(), 0);
  const std::vector<Json> calls = daemon.rows("method", "tools/call");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0]["headers"].value("mcp-method", ""), "tools/call");
  EXPECT_EQ(calls[0]["headers"].value("mcp-name", ""), "echo");
  EXPECT_THAT(daemon.rows("method", "initialize"), IsEmpty());
  EXPECT_THAT(daemon.rows("http", "DELETE"), IsEmpty());
}

TEST(Http, ARestartBetweenCallsIsToldInTheNextOne) {
  TemporaryDirectory directory;
  directory.write("tools.json", kOneTool);
  HttpDaemon daemon({"--tools", directory / "tools.json"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  client.request(1, "tools/list");
  client.answer(1);
  EXPECT_EQ(client.echo("one"), "one");
  directory.write("tools.json", kTwoTools);
  daemon.start();
  EXPECT_THAT(client.echo("two"),
              AllOf(HasSubstr("server restarted"), HasSubstr("+1 added (find)"), HasSubstr("two"),
                    Not(HasSubstr("pid")), Not(HasSubstr("stderr"))));
  client.heard("notifications/tools/list_changed");
  EXPECT_EQ(client.echo("three"), "three");
}

TEST(Http, ARestartOfAStatelessDaemonIsToldToo) {
  TemporaryDirectory directory;
  directory.write("tools.json", kOneTool);
  HttpDaemon daemon({"--era", "modern", "--tools", directory / "tools.json"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.speak_stateless();
  client.request(1, "tools/list");
  client.answer(1);
  EXPECT_EQ(client.echo("one"), "one");
  directory.write("tools.json", kTwoTools);
  daemon.start();
  EXPECT_THAT(client.echo("two"), AllOf(HasSubstr("+1 added (find)"), HasSubstr("two")));
}

TEST(Http, RequestsWaitWhileTheDaemonIsDownAndComeInOrder) {
  constexpr std::size_t kCount = 500;
  // So many requests are under way at once, and the daemon may read them in any order.
  constexpr std::size_t kTogether = 32;
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  EXPECT_EQ(client.echo("up"), "up");
  daemon.kill();
  for (std::size_t id = 1; id <= kCount; ++id) {
    client.call(id, "echo", {{"text", std::to_string(id)}});
  }
  EXPECT_TRUE(eventually([&] { return client.status()["absence"].is_object(); }));
  EXPECT_EQ(daemon.rows("method", "tools/call").size(), 1u);
  daemon.start();
  for (std::size_t id = 1; id <= kCount; ++id) {
    EXPECT_THAT(text_of(client.answer(id)["result"]), ::testing::EndsWith(std::to_string(id)));
  }
  const std::vector<Json> calls = daemon.rows("method", "tools/call");
  ASSERT_EQ(calls.size(), kCount + 1);
  for (std::size_t at = 1; at <= kCount; ++at) {
    EXPECT_LT(calls[at]["id"].get<std::size_t>(), at + kTogether);
  }
}

TEST(Http, AnOpeningWaitsForADaemonThatIsNotThereYet) {
  HttpDaemon daemon;
  ScriptedClient client(bridge_to(daemon.url(), {"--log-level", "info"}));
  client.begin_opening();
  EXPECT_TRUE(client.program().shows_error("nothing listens on 127.0.0.1"));
  daemon.start();
  EXPECT_EQ(client.answer(0)["result"]["serverInfo"]["name"], "fake-mcp");
  client.notify("notifications/initialized");
  EXPECT_EQ(client.echo("hello"), "hello");
}

TEST(Http, AnOpeningThatWaitsTooLongIsAnsweredWithAddressAndCause) {
  HttpDaemon daemon;
  ScriptedClient client(
      bridge_to(daemon.url(), {"--answer-within", "0.1", "--wait-for-server", "0.1"}));
  const Json opened = client.open();
  EXPECT_THAT(opened.value("instructions", ""),
              AllOf(HasSubstr(daemon.url()), HasSubstr("nothing listens")));
  const Json result = client.result_of("echo");
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), AllOf(HasSubstr("not delivered"), HasSubstr("nothing listens")));
  const Json absence = client.status()["absence"];
  EXPECT_THAT(absence.value("why", ""), HasSubstr("nothing listens"));
  EXPECT_TRUE(absence["sinceUtc"].is_string());
  daemon.start();
  client.heard("notifications/tools/list_changed");
  EXPECT_THAT(client.echo("hello"), HasSubstr("hello"));
}

TEST(Http, ADaemonThatIsReplacedInItsOpeningIsOpenedAfresh) {
  HttpDaemon daemon({"--never-answer", "initialize"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.begin_opening();
  ASSERT_TRUE(daemon.has_rows(1, "method", "initialize"));
  daemon.start({});
  EXPECT_EQ(client.answer(0)["result"]["serverInfo"]["name"], "fake-mcp");
}

TEST(Http, ADaemonKilledInACallIsToldInItsAnswer) {
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  client.call(1, "hang");
  ASSERT_TRUE(daemon.has_rows(1, "method", "tools/call"));
  daemon.kill();
  const Json result = client.answer(1)["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), AllOf(HasSubstr("may or may not have taken effect"),
                                     Not(HasSubstr("pid")), Not(HasSubstr("exit"))));
  daemon.start();
  EXPECT_THAT(client.echo("back"), HasSubstr("back"));
  EXPECT_EQ(daemon.rows("method", "tools/call").size(), 2u);
}

TEST(Http, AForgottenSessionIsOpenedAgainAndTheCallSentOnceMore) {
  HttpDaemon daemon(
      {"--http-status",
       "tools/call=404x1:"
       R"json({"jsonrpc":"2.0","id":%ID%,"error":{"code":-32001,"message":"Session not found"}})json"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  EXPECT_THAT(client.echo("hello"), AllOf(HasSubstr("hello"), HasSubstr("session")));
  EXPECT_EQ(daemon.rows("method", "initialize").size(), 2u);
  const std::vector<Json> calls = daemon.rows("method", "tools/call");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_NE(calls[0]["session"], calls[1]["session"]);
}

TEST(Http, AnAnswerThatWasCutOffIsTakenUpAfterItsLastEvent) {
  HttpDaemon daemon({"--http-event-ids", "--http-close-before-answer", "tools/call"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  EXPECT_EQ(client.echo("hello"), "hello");
  EXPECT_EQ(daemon.rows("method", "tools/call").size(), 1u);
  const std::vector<Json> gets = daemon.rows("http", "GET");
  EXPECT_TRUE(std::any_of(gets.begin(), gets.end(),
                          [](const Json& row) { return row["lastEventId"].is_string(); }));
}

TEST(Http, AnAnswerThatWasCutOffWithoutEventIdsIsLost) {
  HttpDaemon daemon({"--http-sse", "--http-cut-after-bytes", "tools/call=20", "--http-cut-once"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  const Json result = client.result_of("echo");
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), HasSubstr("may or may not have taken effect"));
  EXPECT_EQ(daemon.rows("method", "tools/call").size(), 1u);
  EXPECT_THAT(client.echo("next"), HasSubstr("next"));
}

TEST(Http, TheSessionStreamCarriesMessagesOutsideACall) {
  HttpDaemon daemon({"--tools-list-changed", "--http-event-ids", "--http-cut-after-bytes",
                     "GET=100", "--http-cut-once"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  for (int count = 0; count < 3; ++count) {
    client.text_of_call("change_tools");
    client.heard("notifications/tools/list_changed");
  }
  // The stream was cut in one of these notifications, and went on behind the one before.
  const std::vector<Json> gets = daemon.rows("http", "GET");
  ASSERT_EQ(gets.size(), 2u);
  EXPECT_EQ(gets[0]["lastEventId"], nullptr);
  EXPECT_TRUE(gets[1]["lastEventId"].is_string());
}

TEST(Http, TheSessionIsDeletedAtTheEndUnlessItIsKept) {
  for (const bool keeps : {false, true}) {
    HttpDaemon daemon;
    daemon.start();
    ScriptedClient client(bridge_to(daemon.url(), keeps ? std::vector<std::string>{"--keep-session"}
                                                        : std::vector<std::string>{}));
    client.open();
    EXPECT_EQ(client.echo("hello"), "hello");
    EXPECT_EQ(client.end(), 0);
    const std::vector<Json> deletes = daemon.rows("http", "DELETE");
    ASSERT_EQ(deletes.size(), keeps ? 0u : 1u);
    if (keeps) continue;
    EXPECT_EQ(deletes[0]["session"], daemon.rows("method", "tools/call")[0]["session"]);
  }
}

TEST(Http, MessagesMayBeBig) {
  constexpr std::size_t kSize = 10'000'000;
  HttpDaemon daemon({"--http-big-event", std::to_string(kSize), "--logging"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  EXPECT_EQ(client.text_of_call("big", {{"bytes", kSize}}).size(), kSize);
  EXPECT_EQ(client.heard("notifications/message")["params"]["data"].get<std::string>().size(),
            kSize);
  EXPECT_EQ(client.echo(std::string(kSize, 'x')).size(), kSize);
}

TEST(Http, AConnectionThatWasClosedMeanwhileIsNotUsed) {
  HttpDaemon daemon({"--http-close-idle", "300"});
  daemon.start();
  const auto open_count = [&] { return descriptors_of(daemon.program().pid()).size(); };
  const std::size_t before = open_count();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  for (int count = 0; count < 3; ++count) {
    EXPECT_EQ(client.echo("hello"), "hello");
    // Only the stream of the session stays open.
    EXPECT_TRUE(eventually([&] { return open_count() <= before + 1; }));
  }
}

TEST(Http, ManyCallsRunSideBySide) {
  constexpr int kCount = 100;
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  for (int id = 1; id <= kCount; ++id) client.call(id, "sleep", {{"ms", 20}});
  for (int id = 1; id <= kCount; ++id) EXPECT_EQ(text_of(client.answer(id)["result"]), "slept");
}

TEST(Http, QuestionsOfTheDaemonAreAnsweredInManyCallsAtOnce) {
  constexpr int kCount = 40;
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  for (int id = 1; id <= kCount; ++id) client.call(id, "ask", {{"method", "elicitation/create"}});
  std::vector<Json> asked;
  // No call has ended before so many wait for an answer.
  for (int count = 0; count < 32; ++count)
    asked.push_back(client.heard("elicitation/create")["id"]);
  for (int count = 0; count < kCount; ++count) {
    if (count >= 32) asked.push_back(client.heard("elicitation/create")["id"]);
    client.send(Json{{"jsonrpc", "2.0"},
                     {"id", asked[static_cast<std::size_t>(count)]},
                     {"result", {{"action", "decline"}}}}
                    .dump());
  }
  for (int id = 1; id <= kCount; ++id) {
    EXPECT_THAT(text_of(client.answer(id)["result"]), HasSubstr("decline"));
  }
}

TEST(Http, ACancellationIsPosted) {
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  client.call(1, "hang");
  ASSERT_TRUE(daemon.has_rows(1, "method", "tools/call"));
  client.notify("notifications/cancelled", {{"requestId", 1}});
  EXPECT_TRUE(daemon.has_rows(1, "method", "notifications/cancelled"));
  EXPECT_THAT(client.child_state()["cancelled"], Contains(1));
  EXPECT_FALSE(client.has_heard("answer 1"));
}

TEST(Http, ACancellationOfTheStatelessRevisionClosesTheStream) {
  HttpDaemon daemon(kStateless);
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.speak_stateless();
  client.call(1, "hang");
  ASSERT_TRUE(daemon.has_rows(1, "method", "tools/call"));
  client.notify("notifications/cancelled", {{"requestId", 1}});
  EXPECT_TRUE(eventually([&] { return client.child_state()["cancelled"] == Json::array({1}); }));
  EXPECT_THAT(daemon.rows("method", "notifications/cancelled"), IsEmpty());
  EXPECT_FALSE(client.has_heard("answer 1"));
}

TEST(Http, TwoBridgesUseOneDaemon) {
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient one(bridge_to(daemon.url()));
  ScriptedClient two(bridge_to(daemon.url()));
  one.open();
  two.open();
  EXPECT_EQ(one.echo("one"), "one");
  EXPECT_EQ(two.echo("two"), "two");
  EXPECT_EQ(one.end(), 0);
  EXPECT_EQ(two.echo("three"), "three");
  daemon.start();
  EXPECT_THAT(two.echo("four"), AllOf(HasSubstr("server restarted"), HasSubstr("four")));
}

TEST(Http, AKillGivesTheSessionUpAndLeavesTheDaemon) {
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  client.call(1, "hang");
  ASSERT_TRUE(daemon.has_rows(1, "method", "tools/call"));
  EXPECT_THAT(client.text_of_call("sitter_kill"), HasSubstr("was not started"));
  EXPECT_EQ(client.answer(1)["result"]["isError"], true);
  EXPECT_TRUE(daemon.has_rows(1, "http", "DELETE"));
  EXPECT_FALSE(daemon.program().has_ended());
  EXPECT_THAT(client.echo("again"), HasSubstr("again"));
  EXPECT_EQ(daemon.rows("method", "initialize").size(), 2u);
}

TEST(Http, TheAddressMayBeInAVariable) {
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient::Setup setup = bridge_to(daemon.url());
  setup.options.erase(setup.options.begin(), setup.options.begin() + 2);
  setup.options.insert(setup.options.begin(), {"--http-env", "SITTER_TEST_URL"});
  setup.environment = {"SITTER_TEST_URL=" + daemon.url() + "?key=sesame"};
  ScriptedClient client(setup);
  client.open();
  EXPECT_THAT(client.echo("hello"), HasSubstr("hello"));
  EXPECT_THAT(client.result_of("sitter_status").dump(), Not(HasSubstr("sesame")));
  EXPECT_EQ(client.end(), 0);
}

TEST(Http, AValueThatTheDaemonRepeatsIsNotInTheTrace) {
  HttpDaemon daemon({"--http-status", "*=401:the key sesame-word is old"});
  daemon.start();
  ScriptedClient client(
      bridge_to(daemon.url(), {"--header", "X-Team=sesame-word", "--log-level", "trace"}));
  client.open();
  EXPECT_TRUE(client.program().shows_error("the key *** is old"));
  EXPECT_EQ(client.end(), 0);
  EXPECT_THAT(client.program().error_text(), Not(HasSubstr("sesame-word")));
}

TEST(Http, AValueOfAHeaderIsShownToTheDaemonOnly) {
  const std::vector<std::string> words = {"sesame-word", "sesame-variable"};
  TemporaryDirectory directory;
  HeldPort port;
  const std::string journal = directory / "journal";
  ScriptedClient::Setup setup = bridge_to(
      port.url(), {"--header", "X-Team=" + words[0], "--header-env",
                   "Authorization=SITTER_TEST_AUTH", "--log-level", "trace", "--own-daemon"});
  setup.environment = {"SITTER_TEST_AUTH=" + words[1]};
  setup.command = fake({"--http", std::to_string(port.number()), "--http-journal", journal,
                        "--http-status", "tools/call=401x1:WWW-Authenticate=Bearer"});
  ScriptedClient client(setup);
  std::vector<std::string> shown = {client.open().dump()};
  client.call(1, "echo");
  shown.push_back(client.answer(1).dump());
  for (const std::string tool : {"sitter_status", "sitter_binary_info", "sitter_child_stderr"}) {
    shown.push_back(client.result_of(tool).dump());
  }
  client.call(2, "hang");
  EXPECT_TRUE(eventually([&] { return http_journal(journal).back()["id"] == 2; }));
  for (const long pid : client.living()) shown.push_back(command_line_of(pid));
  ::kill(static_cast<pid_t>(client.child_pid()), SIGKILL);
  shown.push_back(client.answer(2).dump());
  client.call(3, "echo");
  shown.push_back(client.answer(3).dump());
  client.program().signal(SIGUSR1);
  EXPECT_TRUE(client.program().shows_error("childState"));
  EXPECT_EQ(client.end(), 0);
  shown.push_back(client.program().error_text());
  for (const std::string& word : words) EXPECT_THAT(shown, Each(Not(HasSubstr(word))));
  for (const Json& row : http_journal(journal)) {
    EXPECT_EQ(row["headers"].value("x-team", ""), words[0]);
    EXPECT_EQ(row["headers"].value("authorization", ""), words[1]);
  }
}

}  // namespace
}  // namespace sitter::testing
