#include "core/child/own_restart.hpp"
#include "support/own_restart_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

/// A watcher says on stdout that it starts the server anew.
class BridgeAnnouncedRestartTest : public BridgeOwnRestartTest {};

TEST_F(BridgeAnnouncedRestartTest, AnswersAPingDuringTheRestart) {
  open_used_session();
  child(1, "Restarting 'server.mjs'");
  client(request(2, "ping"));
  EXPECT_THAT(client_got(), ElementsAre(result(2)));
}

TEST_F(BridgeAnnouncedRestartTest, ReopensAnAnnouncedServerThatRefusedNothing) {
  open_used_session();
  server.tools = {tool("added")};
  child(1, "Restarting 'server.mjs'");
  client(call(2, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kOwnRestartWait - Milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(Milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("renumber 2", HasSubstr("initialize")));
  opens(2);
  done();
  client(request(3, "tools/list"));
  child(2, result(3, Server::list("tools", server.tools)));
  child(2, result(2, text_result("new")));
  time_passes(milliseconds(5));
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("previous: restarted itself"),
                                           HasSubstr("+1 added (added), -1 removed (echo)"),
                                           Not(HasSubstr("stdout: the server wrote")))));
}

TEST_F(BridgeAnnouncedRestartTest, TheWordsMayStandOnStderr) {
  open_used_session();
  child_says(1, "Watcher File change detected! Restarting!");
  // deno begins a read in the former server, which takes the next line.
  EXPECT_THAT(done(), ElementsAre("child 1 "));
  client(call(2, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), ElementsAre("renumber 2", HasSubstr("initialize")));
}

TEST_F(BridgeAnnouncedRestartTest, ARefusedReadIsSentOnceMoreAlsoIfTheRestartWasOnlyAnnounced) {
  open_used_session();
  client(request(2, "tools/list"));
  child(1, refused(2));
  child(1, "Restarting 'server.mjs'");
  done();
  time_passes(limits::kOwnRestartWait);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + request(2, "tools/list")));
  child(2, result(2, Server::list("tools", server.tools)));
}

TEST_F(BridgeAnnouncedRestartTest, ACallThatWasSentBeforeTheAnnouncementAndRefusedIsSentOnceMore) {
  open_used_session();
  client(call(2, "echo"));
  child(1, "Restarting 'server.mjs'");
  done();
  child(1, refused(2));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request(kList, "tools/list", "{}")));
  child(1, refused(kList));
  time_passes(limits::kOwnRestartWait);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(2, "echo")));
  child(2, result(2, text_result("new")));
}

TEST_F(BridgeAnnouncedRestartTest, ARefusalIsDoubtfulIfTheListIsNotRefusedInTime) {
  open_used_session();
  client(call(2, "echo"));
  child(1, "Restarting 'server.mjs'");
  child(1, refused(2));
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(client_got(), ElementsAre(unclear(2)));
  opens(2);
}

TEST_F(BridgeAnnouncedRestartTest, AKillTellsAWaitingCallTheLastWords) {
  open_used_session();
  child_says(1, "no such table");
  child(1, "Restarting 'server.mjs'");
  client(call(2, "echo"));
  client(call(3, "sitter_kill"));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2"), HasSubstr("no such table"))));
  dies(1, 0);
}

TEST_F(BridgeAnnouncedRestartTest, ANotificationWaitsForTheNewServerToo) {
  open_used_session();
  child(1, "Restarting 'server.mjs'");
  client(call(2, "echo"));
  client(notification("notifications/vendor"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kOwnRestartWait);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + notification("notifications/vendor")));
  child(2, result(2, text_result("new")));
}

TEST_F(BridgeAnnouncedRestartTest, ASecondOpeningWaitsForTheNewServerToo) {
  open_used_session();
  child(1, "Restarting 'server.mjs'");
  client(initialize(2));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), ElementsAre("renumber 2", Not(HasSubstr(initialize(2)))));
  opens(2);
  const auto orders = done();
  EXPECT_THAT(orders, Contains("child 2 " + initialize(2)));
  EXPECT_THAT(orders, Contains(AllOf(StartsWith("client "), HasSubstr(server.name))));
}

TEST_F(BridgeAnnouncedRestartTest, AcceptsALateAnswerOfTheFormerServer) {
  open_used_session();
  client(call(2, "echo"));
  child(1, "Restarting 'server.mjs'");
  done();
  child(1, result(2, text_result("old")));
  EXPECT_THAT(client_got(), SizeIs(1));
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(client_got(), IsEmpty());
  opens(2);
}

TEST_F(BridgeAnnouncedRestartTest, ACallWaitsForTheServerThatARebuildBringsMeanwhile) {
  open_used_session();
  client(call(4, "slow"));
  client(rebuild(3));
  done();
  child(1, "Restarting 'server.mjs'");
  client(call(2, "echo"));
  dies(build(1), 0);
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Not(Contains(HasSubstr(call(2, "echo"))))));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(2, "echo")));
  child(2, result(2, text_result("new")));
  // What the former server had is lost as soon as it is known to be gone.
  done();
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  EXPECT_THAT(client_got(), Contains(HasSubstr("\"id\":4")));
}

TEST_F(BridgeAnnouncedRestartTest, ReopensTheFormerServerIfTheRebuildFails) {
  open_used_session();
  client(rebuild(3));
  child(1, "Restarting 'server.mjs'");
  client(call(2, "echo"));
  dies(build(1), 0);
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("renumber"))));
  dies(2, 1);
  EXPECT_THAT(done(), Contains("renumber 3"));
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + call(2, "echo")));
  child(3, result(2, text_result("new")));
}

TEST_F(BridgeAnnouncedRestartTest, ReopensAServerThatRestartsDuringItsOpening) {
  open_used_session();
  child(1, "Restarting 'server.mjs'");
  time_passes(limits::kOwnRestartWait);
  done();
  child(2, "Restarting 'server.mjs'");
  client(call(2, "echo"));
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), ElementsAre("renumber 3", HasSubstr("initialize")));
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + call(2, "echo")));
  child(3, result(2, text_result("new")));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted (spawn #3"));
}

TEST_F(BridgeAnnouncedRestartTest, TheClientsOpeningIsSentToTheNewServerToo) {
  client(initialize(0));
  child(1, "Restarting 'server.mjs'");
  done();
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), ElementsAre("renumber 2", "child 2 " + initialize(0)));
  child(2, result(0, server.opening()));
  EXPECT_THAT(client_got(), SizeIs(1));
  client(initialized());
  client(call(2, "echo"));
  EXPECT_THAT(done(), Contains("child 2 " + call(2, "echo")));
  child(2, result(2, text_result("new")));
  EXPECT_THAT(answer_text(), "new");
}

TEST_F(BridgeAnnouncedRestartTest, AnOpeningThatTheFormerServerHasAnsweredIsMadeOnceMore) {
  client(initialize(0));
  child(1, "Restarting 'server.mjs'");
  child(1, result(0, server.opening()));
  EXPECT_THAT(client_got(), SizeIs(1));
  client(initialized());
  time_passes(limits::kOwnRestartWait);
  opens(2);
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeAnnouncedRestartTest, TheFirstStartIsNoRestart) {
  client(initialize(0));
  child(1, "[nodemon] starting `node server.mjs`");
  done();
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), IsEmpty());
  opens(1);
  dies(1, 1);
  client(call(2, "echo"));
  child(2, "[nodemon] starting `node server.mjs`");
  done();
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), IsEmpty());
  opens(2);
  child(2, result(2, text_result("new")));
}

TEST_F(BridgeAnnouncedRestartTest, AStartAfterTheFormerServerHasEndedLateIsARestart) {
  open_used_session();
  child(1, "[nodemon] restarting due to changes...");
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), Contains("renumber 2"));
  child(2, "[nodemon] starting `node server.mjs`");
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), Contains("renumber 3"));
  opens(3);
}

}  // namespace
}  // namespace sitter
