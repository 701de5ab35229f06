#include "core/child/echo.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// The server sends back what it is sent, as `cat` does, or a terminal before the server.
class BridgeEchoTest : public BridgeTest {};
class BridgeEchoWithoutOpeningTest : public StatelessTest {};

TEST_F(BridgeEchoTest, ACatInThePlaceOfTheServerIsNamed) {
  client(initialize(0));
  done();
  child(1, initialize(0));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(config.answer_within);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("it sends back what it is sent, as cat does, or a terminal"));
  client(call(1, "echo"));
  time_passes(config.startup_timeout - config.answer_within);
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("taken down after 50s: it sends back what "
                                                        "it is sent"),
                                              Not(HasSubstr("more time")))));
}

TEST_F(BridgeEchoTest, AnEchoNeverReachesTheClientAndTheAnswerBehindItDoes) {
  client(initialize(0));
  child(1, initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  done();
  child(1, initialized());
  child(1, request("#1", "tools/list", "{}"));
  child(1, result("#1", Server::list("tools", server.tools)));
  client(call(1, "echo"));
  client(request(2, "vendor/x"));
  client(request(3, "ping"));
  done();
  child(1, call(1, "echo"));
  child(1, request(2, "vendor/x"));
  child(1, request(3, "ping"));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(1, text_result("x")));
  EXPECT_THAT(client_got(),
              ElementsAre(HasSubstr("[mcp-sitter] stdout: the server (spawn #1) sends back what it "
                                    "is sent (6 lines), as a terminal or cat does")));
  child(1, result(2));
  child(1, result(3));
  done();
  client(call(4, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("isEcho": true)json"));
}

TEST_F(BridgeEchoTest, NotificationsAreEchoedToo) {
  client(initialize(0));
  child(1, initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  client(call(1, "echo"));
  client(notification("vendor/x"));
  client(cancelled(1));
  done();
  child(1, notification("vendor/x"));
  child(1, cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  // Each line has one echo. The same again is the server's own.
  child(1, notification("vendor/x"));
  EXPECT_THAT(client_got(), ElementsAre(notification("vendor/x")));
}

TEST_F(BridgeEchoTest, TheEchoOfAnAnswerOfTheClientAnswersNothing) {
  open_session();
  client(call(5, "echo"));
  child(1, call(5, "echo"));
  child(1, request(5, "roots/list"));
  done();
  client(result(1, R"json({"roots":[]})json"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + result(5, R"json({"roots":[]})json")));
  child(1, result(5, R"json({"roots":[]})json"));
  EXPECT_THAT(done(), IsEmpty());
  // An answer has one echo. The same again is the server's own.
  child(1, result(5, R"json({"roots":[]})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeEchoTest, ARequestOfTheServerWithTheIdOfAnOpenRequestPasses) {
  open_session();
  client(call(1, "echo"));
  client(request(2, "ping"));
  client(request(3, "vendor/x"));
  done();
  child(1, request(1, "sampling/createMessage"));
  child(1, request(2, "ping"));
  child(1, request(3, "elicitation/create"));
  EXPECT_THAT(client_got(), SizeIs(3));
  for (const int id : {1, 2, 3}) {
    child(1, result(id, text_result("x")));
    client(result(id));
  }
  EXPECT_THAT(done(), Not(Contains(HasSubstr("sends back"))));
}

TEST_F(BridgeEchoTest, AnAnsweredRequestIsNotEchoed) {
  open_session();
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  done();
  child(1, call(1, "echo"));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeEchoWithoutOpeningTest, TheFirstLineShowsIt) {
  client(enveloped(1, "vendor/x"));
  client(enveloped(2, "ping"));
  done();
  child(1, enveloped(1, "vendor/x"));
  child(1, enveloped(2, "ping"));
  EXPECT_THAT(done(), IsEmpty());
  const std::string pong = result(2, R"json({"resultType":"complete"})json");
  child(1, pong);
  EXPECT_THAT(client_got(), ElementsAre(pong));
}

TEST(EchoTest, BeginsWithTheFirstLine) {
  Echo echo;
  for (const char* const line : {"first", "second"}) echo.on_sent(Outgoing::own(line));
  EXPECT_FALSE(echo.hears("second"));
  echo.on_own_word();
  EXPECT_FALSE(echo.hears("first"));
}

TEST(EchoTest, AwaitsALimitedNumber) {
  Echo echo;
  const auto line = [](std::size_t number) { return "line " + std::to_string(number); };
  for (std::size_t i = 0; i <= limits::kEchoesMax; ++i) echo.on_sent(Outgoing::own(line(i)));
  for (std::size_t i = 0; i < limits::kEchoesMax; ++i) EXPECT_TRUE(echo.hears(line(i)));
  EXPECT_FALSE(echo.hears(line(limits::kEchoesMax)));
  echo.on_sent(Outgoing::own("next"));
  EXPECT_TRUE(echo.hears("next"));
}

}  // namespace
}  // namespace sitter
