#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "core/report/old_code.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

constexpr char kOldCode[] = "is still the old code's";
constexpr char kStructured[] =
    R"json({"content":[{"type":"text","text":"a is 1"}],"structuredContent":{"a":1}})json";

class BridgeOldCodeTest : public BridgeTest {
 protected:
  /// The answer to a call of the child's tool.
  std::string result_of_call(Generation gen = 1) {
    ask();
    return answer_text_of(gen);
  }
  void ask() {
    client(call(++id_, "echo"));
    done();
  }
  std::string answer_text_of(Generation gen) {
    child(gen, result(id_, text_result("x")));
    return answer_text();
  }
  /// Turns the clock to the next look.
  void a_second_passes() { time_passes(limits::kSourceLookShare * kLookTime); }

  int id_ = 0;
};

TEST_F(BridgeOldCodeTest, NamesAChangeInTheFirstResultOnly) {
  open_session();
  EXPECT_EQ(result_of_call(), "x");
  source_changes("server.py");
  time_passes(seconds(5));
  EXPECT_EQ(result_of_call(),
            "[mcp-sitter] server.py changed 5s ago and this answer is still the old code's: call "
            "sitter_kill {\"restart\": true}, then call again");
  a_second_passes();
  EXPECT_EQ(result_of_call(), "x");
}

TEST_F(BridgeOldCodeTest, AFurtherChangeIsNamedToo) {
  open_session();
  source_changes("server.py");
  EXPECT_THAT(result_of_call(), HasSubstr("server.py changed just now"));
  a_second_passes();
  source_changes("server.py");
  EXPECT_THAT(result_of_call(), HasSubstr("server.py changed just now"));
}

TEST_F(BridgeOldCodeTest, MeasuresTheAgeWhenTheResultIsSent) {
  open_session();
  source_changes("server.py");
  ask();
  time_passes(seconds(30));
  EXPECT_THAT(answer_text_of(1), HasSubstr("server.py changed 30s ago"));
}

TEST_F(BridgeOldCodeTest, WithABuildCommandTheRebuildIsNamed) {
  config.build_command = "make";
  config.tool_names = {{Builtin::rebuild, "recompile"}};
  open_session();
  source_changes("server.py");
  EXPECT_THAT(result_of_call(), HasSubstr("call recompile, then call again"));
}

TEST_F(BridgeOldCodeTest, TheCallLeavesBeforeTheSourcesAreLookedAt) {
  plays.sources = false;
  open_session();
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "echo"), "look at sources of 1"));
  sources_checked(1);
  client(request(2, "resources/read"));
  EXPECT_THAT(done(), SizeIs(1));
  child(1, result(1));
  child(1, result(2));
}

TEST_F(BridgeOldCodeTest, ACallThatHasWaitedForItsServerLeadsToALookToo) {
  plays.sources = false;
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  EXPECT_THAT(done(), Not(Contains(StartsWith("look"))));
  opens(2);
  EXPECT_THAT(done(), Contains("look at sources of 2"));
  child(2, result(1));
}

TEST_F(BridgeOldCodeTest, AChangeThatNoPatternMatchesIsNamedToo) {
  config.watch_patterns = {"src"};
  open_session();
  source_changes("server.py");
  EXPECT_THAT(result_of_call(), HasSubstr(kOldCode));
}

TEST_F(BridgeOldCodeTest, DoesNotCheckSourcesWithoutNotices) {
  config.writes_notices = false;
  plays.sources = false;
  open_session();
  client(call(1, "echo"));
  EXPECT_THAT(done(), SizeIs(1));
  child(1, result(1));
}

TEST_F(BridgeOldCodeTest, PromptsAndResourcesNameItUntilAResultHasToldTheModel) {
  open_session();
  source_changes("server.py");
  for (int i = 0; i < 2; ++i) {
    client(request(++id_, "prompts/get"));
    child(1, result(id_, R"json({"messages":[]})json"));
    EXPECT_THAT(client_got(), ElementsAre(HasSubstr(kOldCode)));
  }
  EXPECT_THAT(result_of_call(), HasSubstr(kOldCode));
  client(request(++id_, "resources/read"));
  child(1, result(id_, R"json({"contents":[]})json"));
  EXPECT_THAT(client_got(), ElementsAre(Not(HasSubstr(kOldCode))));
}

TEST_F(BridgeOldCodeTest, AnErrorNamesItToo) {
  open_session();
  source_changes("server.py");
  ask();
  child(1, error(id_, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("Unknown tool"), HasSubstr(kOldCode))));
  EXPECT_EQ(result_of_call(), "x");
}

TEST_F(BridgeOldCodeTest, DoesNotCallANewServerStale) {
  open_session();
  source_changes("server.py");
  ask();
  client(call(90, "sitter_kill"));
  dies(1, 0);
  done();
  changed_source.clear();
  ask();
  opens(2);
  EXPECT_THAT(answer_text_of(2), AllOf(HasSubstr("server restarted"), Not(HasSubstr(kOldCode))));
}

TEST_F(BridgeOldCodeTest, ACheckOfADeadServerDoesNotApplyToTheNext) {
  plays.sources = false;
  open_session();
  ask();
  dies(1, 0);
  done();
  ask();
  opens(2);
  source_changes("server.py");
  sources_checked(1);
  EXPECT_THAT(answer_text_of(2), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeOldCodeTest, AServerThatIsReplacedMeanwhileSaysSo) {
  config.build_command = "make";
  open_session();
  source_changes("server.py");
  ask();
  client(call(90, "sitter_rebuild"));
  dies(build(1), 0);
  opens(2);
  done();
  EXPECT_THAT(answer_text_of(1), HasSubstr("the request came before the new server took over"));
}

TEST_F(BridgeOldCodeTest, EachAnswerDuringARebuildIsOfTheOldServer) {
  config.build_command = "make";
  open_session();
  client(call(90, "sitter_rebuild"));
  time_passes(seconds(2));
  for (int i = 0; i < 2; ++i) {
    ask();
    child(1, result(id_, kStructured));
    EXPECT_THAT(answer().dump(),
                HasSubstr("[mcp-sitter] this answer is still the old server's: a build has been "
                          "running for 2s (sitter_rebuild)"));
  }
  client(request(91, "resources/read"));
  child(1, result(91, R"json({"contents":[]})json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("mcp-sitter:notice")));
  dies(build(1), 2);
  client_got();
  EXPECT_THAT(result_of_call(), Not(HasSubstr("old")));
}

TEST_F(BridgeOldCodeTest, AnAnswerDuringARebuildSaysWhatIsOnItsWay) {
  config.build_command = "make";
  open_session();
  source_changes("server.py");
  ask();
  client(call(90, "sitter_rebuild"));
  time_passes(seconds(2));
  EXPECT_THAT(answer_text_of(1),
              HasSubstr("old code's: a build has been running for 2s (sitter_rebuild)"));
  a_second_passes();
  source_changes("server.py");
  // The build fails, so the old code goes on.
  dies(build(1), 1);
  done();
  EXPECT_THAT(result_of_call(), HasSubstr(kOldCode));
}

TEST_F(BridgeOldCodeTest, OldCodeIsNamedBelowTheRestartNotice) {
  open_session();
  dies(1, 0);
  done();
  ask();
  opens(2);
  source_changes("server.py");
  ask();
  a_second_passes();
  ask();
  done();
  EXPECT_THAT(answer_text_of(2), AllOf(StartsWith("[mcp-sitter] server restarted"),
                                       HasSubstr("\n[mcp-sitter] server.py changed")));
  for (int id = 1; id < id_; ++id) child(2, result(id));
}

TEST_F(BridgeOldCodeTest, BesideStructuredContentEachChangeStandsOnce) {
  open_session();
  const auto got = [&] {
    ask();
    child(1, result(id_, kStructured));
    return answer().dump();
  };
  source_changes("a.py");
  EXPECT_THAT(got(), HasSubstr("a.py changed"));
  EXPECT_THAT(got(), Not(HasSubstr(kOldCode)));
  a_second_passes();
  source_changes("b.py");
  EXPECT_THAT(got(), HasSubstr("b.py changed"));
  EXPECT_THAT(result_of_call(), HasSubstr("b.py changed"));
  EXPECT_EQ(result_of_call(), "x");
}

TEST_F(BridgeOldCodeTest, NamesAChangeAgainIfItsCallWasCancelled) {
  open_session();
  source_changes("server.py");
  EXPECT_THAT(result_of_call(), HasSubstr(kOldCode));
  client(cancelled(id_));
  time_passes(seconds(7));
  EXPECT_EQ(result_of_call(),
            "[mcp-sitter] server.py changed 7s ago and this answer is still the old code's: call "
            "sitter_kill {\"restart\": true}, then call again");
}

TEST_F(BridgeOldCodeTest, DoesNotBlameTheNextServerForACancelledChange) {
  open_session();
  source_changes("server.py");
  EXPECT_THAT(result_of_call(), HasSubstr(kOldCode));
  client(cancelled(id_));
  dies(1, 0);
  changed_source.clear();
  ask();
  opens(2);
  done();
  EXPECT_THAT(answer_text_of(2), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeOldCodeTest, HoldsNoAnswerForAnOldCodeNotice) {
  open_listed_session();
  source_changes("server.py");
  ask();
  child(1, result(id_, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(kOldCode)));
}

TEST_F(BridgeOldCodeTest, AStatusLooksAtTheSources) {
  plays.inspect = false;
  binary.stale = true;
  open_session();
  client(call(1, "sitter_status"));
  EXPECT_THAT(done(), ElementsAre("inspect with its sources"));
  binary_inspected();
  EXPECT_THAT(answer_text(), HasSubstr(R"json("binaryStale": true)json"));
}

TEST_F(BridgeOldCodeTest, AKillDoesNotCheckTheSources) {
  plays.inspect = false;
  open_session();
  client(call(1, "sitter_kill"));
  EXPECT_THAT(done(), Contains("inspect"));
}

}  // namespace
}  // namespace sitter
