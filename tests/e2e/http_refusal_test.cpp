#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/http_daemon.hpp"
#include "support/scripted_client.hpp"

// The daemon answers with something that is no answer.

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(HttpRefusal, AHeadWithoutEndIsNoAnswer) {
  HttpDaemon daemon({"--http-endless-header"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url(), {"--answer-within", "0.2"}));
  EXPECT_THAT(client.open().value("instructions", ""),
              HasSubstr("the head of the response is longer"));
}

TEST(HttpRefusal, ADaemonThatSaysNothingDoesNotBlockTheClient) {
  HttpDaemon daemon({"--http-mute"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url(), {"--answer-within", "0.2"}));
  EXPECT_EQ(client.open()["serverInfo"]["name"], "mcp-sitter");
  client.call(1, "echo", {{"text", "hello"}});
  EXPECT_EQ(client.status()["childReady"], false);
  daemon.start({});
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("hello"));
}

TEST(HttpRefusal, ARevisionThatClientsDoNotKnowIsNoOpening) {
  HttpDaemon daemon(
      {"--raw-answer",
       R"json(initialize={"jsonrpc":"2.0","id":%ID%,"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"a","version":"1"}}})json"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  EXPECT_THAT(client.open().value("instructions", ""),
              HasSubstr("protocolVersion \"2099-01-01\" is neither"));
}

TEST(HttpRefusal, APageInsteadOfAnAnswerIsToldAsText) {
  HttpDaemon daemon({"--http-status",
                     "tools/call=500x1:<html><body><h1>Sorry</h1><p>it broke</p></body></html>"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  client.call(1, "echo", {{"text", "a"}});
  EXPECT_THAT(client.answer(1).dump(), AllOf(HasSubstr("500"), HasSubstr("Sorry"),
                                             HasSubstr("it broke"), Not(HasSubstr("<p>"))));
  EXPECT_EQ(client.echo("b"), "b");
}

TEST(HttpRefusal, ABusyDaemonIsAskedAgain) {
  HttpDaemon daemon({"--http-status", "tools/call=503x2:Retry-After=0"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  EXPECT_THAT(client.echo("hello"), HasSubstr("hello"));
  EXPECT_EQ(daemon.rows("method", "tools/call").size(), 3u);
}

TEST(HttpRefusal, ABusyDaemonIsLeftAloneForAsLongAsItSays) {
  HttpDaemon daemon({"--http-status", "tools/call=503:Retry-After=100"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  client.call(1, "echo");
  EXPECT_TRUE(eventually([&] { return client.status()["absence"].is_object(); }));
  const Json absence = client.status()["absence"];
  EXPECT_THAT(absence.value("why", ""), HasSubstr("503"));
  EXPECT_GT(absence.value("nextTryMs", 0), 50'000);
}

TEST(HttpRefusal, ARedirectIsFollowedOnTheSameServerOnly) {
  HttpDaemon daemon({"--http-status", "tools/call=307x1:Location=/mcp"});
  daemon.start();
  HttpDaemon other;
  other.start();
  ScriptedClient client(bridge_to(daemon.url(), {"--header", "Authorization=sesame"}));
  client.open();
  EXPECT_EQ(client.echo("hello"), "hello");
  EXPECT_EQ(daemon.rows("method", "tools/call").size(), 2u);
  daemon.start({"--http-status", "tools/call=307x1:Location=" + other.url()});
  client.call(1, "echo", {{"text", "elsewhere"}});
  EXPECT_THAT(client.answer(1).dump(), AllOf(HasSubstr("307"), HasSubstr(other.url())));
  EXPECT_THAT(other.journal(), IsEmpty());
}

TEST(HttpRefusal, ARefusalNamesWhatTheDaemonAsksFor) {
  HttpDaemon daemon({"--http-status", R"(initialize=401:WWW-Authenticate=Bearer realm="tools")"});
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.begin_opening();
  EXPECT_THAT(client.answer(0).dump(),
              AllOf(HasSubstr("401"), HasSubstr("Bearer"), HasSubstr("--header")));
}

}  // namespace
}  // namespace sitter::testing
