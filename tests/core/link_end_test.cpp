#include "core/child/ending.hpp"
#include "core/http/http_link_limits.hpp"
#include "support/link_script.hpp"

namespace sitter {
namespace {

/// How a session with a daemon ends that was not started here.
class LinkEndTest : public LinkTest {};

TEST_F(LinkEndTest, TheSessionIsEndedWithTheBridge) {
  open_listed_session();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("abort 4", "delete 7 [s1]"));
  status(7, 200);
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(LinkEndTest, ARefusedDeleteIsNoError) {
  open_listed_session();
  client_closes_input();
  done();
  status(7, 405);
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(LinkEndTest, AnAbsentDaemonAtTheEndIsNoError) {
  open_listed_session();
  client_closes_input();
  done();
  not_connected(7);
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(LinkEndTest, ABrokenConnectionAtTheEndIsNoError) {
  open_listed_session();
  client_closes_input();
  done();
  breaks(7);
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(LinkEndTest, TheEndWaitsNoLongerThanItsLimit) {
  open_listed_session();
  client_closes_input();
  done();
  time_passes(limits::kHttpEndWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("abort 7", "exit 0"));
}

TEST_F(LinkEndTest, ASignalEndsTheBridgeBeforeTheDaemonHasAnswered) {
  open_listed_session();
  client(call(1, "slow"));
  done();
  signal(143);
  EXPECT_THAT(done(), ElementsAre("abort 4", "abort 7", "delete 8 [s1]",
                                  AllOf(HasSubstr("client "), HasSubstr("The session is ending"))));
  time_passes(limits::kSignalExitAfter);
  EXPECT_THAT(done(), Contains("exit 143 at once"));
}

TEST_F(LinkEndTest, WaitsForPendingAnswersBeforeTheEnd) {
  open_listed_session();
  client(call(1, "slow"));
  done();
  client_closes_input();
  EXPECT_THAT(done(), IsEmpty());
  answers(7, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "abort 4", "delete 8 [s1]"));
  takes(8);
}

TEST_F(LinkEndTest, ASessionThatIsKeptIsNotEnded) {
  options.keeps_session = true;
  open_listed_session();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("abort 4", "exit 0"));
}

TEST_F(LinkEndTest, WithoutASessionNothingIsEnded) {
  daemon.has_sessions = false;
  open_listed_session();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("abort 4", "exit 0"));
}

TEST_F(LinkEndTest, AStatelessClientEndsNothing) {
  serve_stateless();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(LinkEndTest, ASessionThatIsLostIsNotEnded) {
  open_listed_session();
  breaks(4);
  next_deadline_comes();
  status(last(), 404);
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(LinkEndTest, AKillGivesTheSessionUpAndAnswersWhatIsInFlight) {
  open_listed_session();
  client(call(1, "slow"));
  done();
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("abort 4", "abort 7", "delete 8 [s1]"));
  takes(8);
  const auto lines = client_got();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0],
              AllOf(HasSubstr("\"id\":1"), HasSubstr("may or may not have taken effect")));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("\"id\":2"), HasSubstr("killed")));
}

TEST_F(LinkEndTest, AKillSaysThatTheDaemonWasNotStartedHereAndWhichProcessListens) {
  open_listed_session();
  client(call(1, "sitter_kill"));
  takes(last());
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("not started"), HasSubstr("4242")));
}

TEST_F(LinkEndTest, AfterAKillTheNextRequestOpensAnotherSession) {
  open_listed_session();
  client(call(1, "sitter_kill"));
  takes(last());
  done();
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("connect 8"));
  opens_daemon();
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("[s2]"), HasSubstr(call(2, "echo")))));
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkEndTest, AKillOfADaemonThatDoesNotAnswerIsOverInItsTime) {
  open_listed_session();
  client(call(1, "sitter_kill"));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(limits::kHttpEndWait);
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkEndTest, AKillWhileTheDaemonIsAwayIsOverAtOnce) {
  open_listed_session();
  daemon_dies();
  client(call(1, "echo"));
  not_connected(*exchange_of(1));
  not_connected(last());
  done();
  client(call(2, "sitter_kill"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":1"), HasSubstr("\"id\":2")));
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkEndTest, AKillEndsWithThePendingConnection) {
  open_listed_session();
  daemon_dies();
  client(call(1, "echo"));
  not_connected(*exchange_of(1));
  done();
  client(call(2, "sitter_kill"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":1")));
  not_connected(last());
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2")));
}

TEST_F(LinkEndTest, EndsDuringAnAbsenceOnceAllRequestsAreAnswered) {
  open_listed_session();
  daemon_dies();
  client(call(1, "echo"));
  not_connected(*exchange_of(1));
  not_connected(last());
  done();
  client_closes_input();
  EXPECT_THAT(done(), IsEmpty());
  stays_down(limits::kOwedWait);
  EXPECT_THAT(done(), Contains("exit 0"));
}

}  // namespace
}  // namespace sitter
