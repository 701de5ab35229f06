#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::Each;

/// A client probes a server that needs an opening.
class BridgeProbeTest : public BridgeTest {};

TEST_F(BridgeProbeTest, AnErrorIsPassedOnAndTheSameChildIsOpened) {
  client(enveloped("\"p\"", "server/discover"));
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + enveloped("\"p\"", "server/discover")));
  const std::string unknown = error("\"p\"", -32601, "Method not found");
  child(1, unknown);
  EXPECT_THAT(client_got(), ElementsAre(unknown));
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialize(0)));
  opens(1);
  EXPECT_THAT(client_got(), SizeIs(1));
  client(initialized());
  opens(1);
  client(call(1, "echo"));
  child(1, result(1, text_result("a")));
  EXPECT_THAT(client_got(), ElementsAre(result(1, text_result("a"))));
}

TEST_F(BridgeProbeTest, ASilentChildIsOpenedAllTheSame) {
  client(enveloped("\"p\"", "server/discover"));
  time_passes(seconds(60));
  EXPECT_THAT(client_got(), IsEmpty());
  client(initialize(0));
  opens(1);
  EXPECT_THAT(client_got(), SizeIs(1));
  client(cancelled("\"p\""));
}

TEST_F(BridgeProbeTest, DoesNotWaitForAFailedProbeAtTheEnd) {
  client(enveloped("\"p\"", "server/discover"));
  client(initialize(0));
  opens(1);
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":"p","error")json")));
}

TEST_F(BridgeProbeTest, TheStartOfAProbedChildIsMeasuredOnce) {
  client(enveloped("\"p\"", "server/discover"));
  time_passes(seconds(3));
  client(call(1, "sitter_status"));
  EXPECT_EQ(nlohmann::json::parse(answer_text())["lastStartupMs"], 0);
  child(1, error("\"p\"", -32601, "Method not found"));
}

TEST_F(BridgeProbeTest, AChildThatExitsOnAProbeHasNotCrashed) {
  client(enveloped("\"p\"", "server/discover"));
  done();
  dies(1, 1);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":"p","error":{"code":-32601)json")));
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("start 2", "child 2 " + initialize(0)));
  opens(2);
  client(initialized());
  opens(2);
  done();
  client(call(1, "echo"));
  child(2, result(1, text_result("a")));
  EXPECT_THAT(client_got(), ElementsAre(result(1, text_result("a"))));
  EXPECT_THAT(logs(), Each(Not(HasSubstr("crashed"))));
}

TEST_F(BridgeProbeTest, AChildThatCannotBeStartedIsNoServerOfTheNewEra) {
  plays.start = false;
  client(enveloped("\"p\"", "server/discover"));
  start_fails(1, "no such file");
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("-32601"), HasSubstr("no such file"))));
  client(initialize(0));
  start_fails(2, "no such file");
  EXPECT_THAT(answer()["result"]["instructions"], HasSubstr("no such file"));
}

TEST_F(BridgeProbeTest, AProbeAloneDoesNotProveTheEra) {
  client(enveloped("\"p\"", "server/discover"));
  child(1, result("\"p\"", R"json({"supportedVersions":["2026-07-28"],"capabilities":{}})json"));
  done();
  client(call(1, "sitter_status"));
  EXPECT_EQ(nlohmann::json::parse(answer_text())["protocolEra"], nullptr);
  client(request(2, "tools/list"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("before initialize")));
}

TEST_F(BridgeProbeTest, ASecondProbeOfADeadChildStartsAnother) {
  client(enveloped("\"p\"", "server/discover"));
  dies(1, 1);
  client(enveloped("\"q\"", "server/discover"));
  EXPECT_THAT(done(), Contains("start 2"));
  dies(2, 1);
}

TEST_F(BridgeProbeTest, ASlowChildIsWaitedForAsLongAsAnyOpening) {
  client(enveloped("\"p\"", "server/discover"));
  child(1, error("\"p\"", -32601, "Method not found"));
  time_passes(seconds(100));
  done();
  client(initialize(0));
  done();
  time_passes(config.answer_within);
  EXPECT_THAT(answer()["result"]["instructions"], HasSubstr("still starting after 8s"));
  time_passes(config.startup_timeout);
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
}

TEST_F(BridgeProbeTest, ANotificationBehindTheProbePasses) {
  client(enveloped(1, "server/discover"));
  done();
  const std::string line = notification("notifications/vendor", R"json({"a":1})json");
  client(line);
  EXPECT_THAT(done(), ElementsAre("child 1 " + line));
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("dropped"))));
  child(1, error(1, -32601, "Method not found"));
}

TEST_F(BridgeProbeTest, ANotificationWaitsForTheChildThatIsProbed) {
  plays.start = false;
  client(enveloped(1, "server/discover"));
  client(notification("notifications/vendor"));
  done();
  started(1);
  EXPECT_THAT(done(), ElementsAre("child 1 " + enveloped(1, "server/discover"),
                                  "child 1 " + notification("notifications/vendor")));
  child(1, error(1, -32601, "Method not found"));
}

TEST_F(BridgeProbeTest, ANotificationWithAnEnvelopeMayComeFirstOfAll) {
  const std::string first =
      notification("notifications/vendor",
                   R"json({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})json");
  client(first);
  client(enveloped(1, "server/discover"));
  EXPECT_THAT(done(), Contains("child 1 " + first));
}

TEST_F(BridgeProbeTest, ANotificationBehindARequestThatProbesNothingIsDropped) {
  client(request(1, "ping"));
  done();
  client(notification("notifications/vendor"));
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_THAT(logs(), Contains(HasSubstr("came before initialize, and was dropped")));
}

TEST_F(BridgeProbeTest, AServerThatIsKnownToFailIsNotStarted) {
  config.is_of_earlier_era = true;
  client(enveloped("\"p\"", "server/discover"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr(R"json("id":"p","error":{"code":-32601)json"),
                                        HasSubstr("it was not started"))));
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + initialize(0)));
  opens(1);
  client(initialized());
  opens(1);
  done();
  client(enveloped(2, "server/discover"));
  EXPECT_THAT(done(), Contains("child 1 " + enveloped(2, "server/discover")));
  child(1, error(2, -32601, "Method not found"));
}

TEST_F(BridgeProbeTest, WhatAServerShowsOfItsEraIsRemembered) {
  using Sign = order::RememberEra::Sign;
  const auto probe = [this](const std::string& answer) {
    client(enveloped("\"p\"", "server/discover"));
    child(1, answer);
    return std::exchange(era_signs, {});
  };
  EXPECT_THAT(probe(error("\"p\"", -32601, "Method not found")), ElementsAre(Sign::knows_no_probe));
  EXPECT_THAT(probe(error("\"p\"", -32602, "Invalid params")), ElementsAre(Sign::fails_probe));
  // A server of the new era may not speak the client's version.
  EXPECT_THAT(probe(error("\"p\"", -32022, "Unsupported version")), IsEmpty());
  EXPECT_THAT(probe(result("\"p\"", R"json({"supportedVersions":["2026-07-28"]})json")),
              ElementsAre(Sign::answers_probe));
  client(initialize(0));
  opens(1);
  EXPECT_THAT(era_signs, ElementsAre(Sign::opens));
}

TEST_F(BridgeProbeTest, AnEndOnTheProbeAndARefusedOpeningAreRemembered) {
  using Sign = order::RememberEra::Sign;
  client(enveloped("\"p\"", "server/discover"));
  done();
  dies(1, 1);
  EXPECT_THAT(era_signs, ElementsAre(Sign::fails_probe));
  client(initialize(0));
  child(2, error(0, -32601, "Method not found"));
  EXPECT_THAT(era_signs, ElementsAre(Sign::fails_probe, Sign::opens_nothing));
}

}  // namespace
}  // namespace sitter
