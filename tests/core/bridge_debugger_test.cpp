#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

using std::chrono::minutes;

/// A debugger is attached to the server now and then.
class BridgeDebuggerTest : public BridgeRebuildTest {
 protected:
  BridgeDebuggerTest() { config.build_command.clear(); }

  void open() {
    open_listed_session();
    time_passes(milliseconds(300));
    done();
  }
  void attach() { debugger = "gdb (pid 7)"; }
  void detach() { debugger.clear(); }
  std::string text_of_call() {
    client(call(80, "echo"));
    child(1, result(80, text_result("a")));
    return answer().dump();
  }
  std::string text_of_tool(const std::string& name) {
    client(call(90, name));
    return answer()["result"]["content"][0]["text"].get<std::string>();
  }
};

TEST_F(BridgeDebuggerTest, AReloadWaitsUntilTheDebuggerIsDetached) {
  open();
  attach();
  ask_reload();
  EXPECT_THAT(done(), IsEmpty());
  time_passes(minutes(10));
  EXPECT_THAT(done(), IsEmpty());
  detach();
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(done(), Contains("close 1"));
}

TEST_F(BridgeDebuggerTest, TheModelIsToldOnceThatAReloadWaits) {
  open();
  attach();
  ask_reload();
  EXPECT_THAT(text_of_call(), HasSubstr("[mcp-sitter] A debugger is attached to the server: gdb "
                                        "(pid 7). So the server is not reloaded (SIGHUP) until "
                                        "the debugger is detached; sitter_kill ends the server"));
  time_passes(seconds(5));
  ask_reload();
  EXPECT_THAT(text_of_call(), Not(HasSubstr("debugger")));
  EXPECT_THAT(text_of_tool("sitter_status"),
              HasSubstr("; a debugger is attached to it: gdb (pid 7); the reload waits until"));
}

TEST_F(BridgeDebuggerTest, WhoAsksForAReloadIsToldAtOnceThatItWaits) {
  open();
  attach();
  control(3, R"json({"command":"reload"})json");
  EXPECT_THAT(control_got(3), ElementsAre(HasSubstr("A debugger is attached to the server")));
  detach();
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeDebuggerTest, ABuildRunsWhileTheReloadWaits) {
  config.build_command = "make";
  open();
  attach();
  client(call(5, "sitter_rebuild"));
  dies(build(1), 0);
  EXPECT_THAT(answer().dump(), HasSubstr("A debugger is attached to the server"));
  client(call(6, "sitter_rebuild"));
  EXPECT_THAT(done(), Contains("start build 2")) << "the code may have changed since";
  dies(build(2), 2);
  EXPECT_THAT(answer().dump(), HasSubstr("the build failed"));
}

TEST_F(BridgeDebuggerTest, KillFirstWaitsWithoutHoldingRequests) {
  config.build_command = "make";
  open();
  attach();
  client(call(5, "sitter_rebuild", R"json({"mode":"kill-first"})json"));
  EXPECT_THAT(answer().dump(), HasSubstr("A debugger is attached to the server"));
  client(call(6, "echo"));
  EXPECT_THAT(done(), Contains(HasSubstr("child 1 ")));
  child(1, result(6, text_result("a")));
  detach();
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  EXPECT_THAT(done(), Contains("start build 1"));
  dies(build(1), 0);
  opens(2);
}

TEST_F(BridgeDebuggerTest, CallsDoNotWaitForCodeThatADebuggerHolds) {
  config.watch_patterns = {"src"};
  open();
  attach();
  changes("a.c");
  time_passes(milliseconds(300));
  EXPECT_THAT(text_of_call(), HasSubstr("the reload waits until the debugger is detached"));
}

TEST_F(BridgeDebuggerTest, AStartUnderADebuggerHasNoLimit) {
  config.startup_timeout = seconds(50);
  client(initialize(1));
  attach();
  time_passes(minutes(10));
  EXPECT_THAT(done(), Not(Contains("close 1")));
  detach();
  time_passes(seconds(49));
  EXPECT_THAT(done(), Not(Contains("close 1")));
  time_passes(seconds(2));
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
}

TEST_F(BridgeDebuggerTest, ASlowOpeningIsAnsweredUnderADebuggerToo) {
  client(initialize(1));
  attach();
  time_passes(config.answer_within);
  EXPECT_THAT(answer().dump(), HasSubstr("it is still starting"));
  client_closes_input();
}

TEST_F(BridgeDebuggerTest, AServerThatIsReplacedMayBeDebuggedToItsEnd) {
  open();
  client(call(5, "echo"));
  ask_reload();
  opens(2);
  attach();
  time_passes(minutes(10));
  EXPECT_THAT(done(), Not(Contains("close 1")));
  child(1, result(5, text_result("a")));
  detach();
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("close 1"));
}

TEST_F(BridgeDebuggerTest, AKillOfTheModelEndsTheServerAndNamesTheDebugger) {
  open();
  attach();
  ask_reload();
  done();
  client(call(5, "sitter_kill"));
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  EXPECT_THAT(answer().dump(), HasSubstr("A debugger was attached to the server: gdb (pid 7)."));
  time_passes(minutes(1));
  EXPECT_THAT(done(), Not(Contains("start 2"))) << "the reload was given up";
}

TEST_F(BridgeDebuggerTest, NobodyLooksForADebuggerWhileNothingWaits) {
  open();
  attach();
  time_passes(minutes(10));
  EXPECT_EQ(process_looks, 0);
  ask_reload();
  done();
  dies(1, 0);
  opens(2);
  const int looks = process_looks;
  time_passes(minutes(10));
  EXPECT_EQ(process_looks, looks);
}

TEST_F(BridgeDebuggerTest, AStoppedStartSaysHowToAttach) {
  config.starts_stopped = true;
  config.startup_timeout = milliseconds(0);
  client(initialize(1));
  EXPECT_THAT(logs(), Contains(HasSubstr("was started stopped (--debug-wait)")));
  time_passes(config.answer_within);
  EXPECT_THAT(answer().dump(), HasSubstr("was started stopped (--debug-wait): attach a debugger"));
  EXPECT_THAT(text_of_tool("sitter_status"), HasSubstr(fmt::format("gdb -p {}", pid_of(1))));
  time_passes(minutes(10));
  EXPECT_THAT(done(), Not(Contains("close 1")));
  client_closes_input();
}

}  // namespace
}  // namespace sitter
