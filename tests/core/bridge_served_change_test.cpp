#include <algorithm>
#include <string>
#include <utility>

#include "support/fresh_code.hpp"

namespace sitter {
namespace {

/// Which of the changes a server runs, whoever has built them.
class BridgeServedChangeTest : public BridgeFreshCodeTest {
 protected:
  /// Serves a script that somebody else builds from TypeScript, and was built some time ago.
  void open_built_script() {
    without_build();
    config.built_endings = {".ts"};
    config.needs_no_build = true;
    binary.path = "/srv/dist/server.js";
    binary.interpreter.emplace();
    binary.modified = now.wall;
    time_passes(seconds(5));
    open();
  }
  /// A change that nobody builds leads to the next child.
  void reloads(Generation& gen) {
    time_passes(milliseconds(300));
    opens(gen + 1);
    dies(gen, 0);
    ++gen;
  }
};

TEST_F(BridgeServedChangeTest, AScriptReadsItsOwnSourcesWithoutABuild) {
  config.needs_no_build = true;
  binary.path = "/srv/app/server.py";
  open();
  Generation gen = 1;
  for (const auto& [file, is_own] :
       {std::pair("/srv/app/server.py", true), std::pair("/srv/app/lib/notes.py", true),
        std::pair("/srv/app/notes.ts", false), std::pair("/srv/app/server.py", false)}) {
    SCOPED_TRACE(file);
    client(call(100 + gen, "sitter_kill"));
    dies(gen, 0);
    saves(file);
    client(call(gen, "echo"));
    opens(++gen);
    child(gen, result(gen - 1, text_result("x")));
    EXPECT_EQ(answer_text().find("nothing has built it since") == std::string::npos, is_own);
  }
}

TEST_F(BridgeServedChangeTest, ARestartRunsNoSourceThatSomebodyElseBuilds) {
  without_build();
  config.built_endings = {".cpp"};
  binary.modified = now.wall;
  time_passes(seconds(5));
  open();
  Generation gen = 1;
  for (const auto& [file, told] :
       {std::pair("settings.json", ""), std::pair("a.cpp", "a.cpp changed"),
        std::pair("moved-away/", "moved-away/ and 1 more changed")}) {
    SCOPED_TRACE(file);
    ++gen;
    saves(file);
    opens(gen);
    dies(gen - 1, 0);
    done();
    for (int id = 10 * gen; id < 10 * gen + 2; ++id) {
      client(call(id, "echo"));
      child(gen, result(id, text_result("x")));
      const std::string hint = "; build it, call sitter_kill {\"restart\": true}, then call again";
      EXPECT_THAT(answer_text(),
                  *told == '\0'
                      ? ::testing::Matcher<std::string>(Not(HasSubstr(kOldCode)))
                      : HasSubstr(told +
                                  std::string(" just now and this answer is still the old "
                                              "code's: nothing has built it since") +
                                  hint));
    }
  }
  time_passes(seconds(5));
  binary.modified = now.wall;
  client(call(1, "sitter_kill", R"json({"restart": true})json"));
  dies(gen, 0);
  opens(++gen);
  done();
  EXPECT_THAT(answer_of(gen, 2), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeServedChangeTest, AFolderThatIsGoneHasNoSourcesOfAScriptThatSomebodyElseBuilds) {
  open_built_script();
  Generation gen = 1;
  changes("moved-away/");
  reloads(gen);
  EXPECT_THAT(answer_of(gen, 1), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeServedChangeTest, OfAFolderThatIsThereTheFilesCount) {
  without_build();
  config.built_endings = {".c"};
  binary.modified = now.wall;
  time_passes(seconds(5));
  open();
  Generation gen = 1;
  for (const bool is_gone : {false, true}) {
    changes("sub/", is_gone ? std::nullopt : std::optional(now.wall));
    reloads(gen);
    EXPECT_EQ(answer_of(gen, 10 * gen).find(kOldCode) != std::string::npos, is_gone);
  }
}

TEST_F(BridgeServedChangeTest, AFileThatComesAndGoesUnreadIsNoChange) {
  open();
  for (const auto& [id, was_there] : {std::pair(1, false), std::pair(2, true)}) {
    SCOPED_TRACE(was_there);
    const Generation gen = id;
    client(call(10 * id, "sitter_kill"));
    dies(gen, 0);
    answer_text();
    if (!was_there) changes("server.new", now.wall, true);
    changes("server.new");
    time_passes(config.debounce);
    EXPECT_EQ(answer_of_next(gen + 1, id).find(kOldCode) != std::string::npos, was_there);
  }
}

TEST_F(BridgeServedChangeTest, ANewFileOfTheServerHoldsWhatSomebodyElseHasBuilt) {
  without_build();
  config.built_endings = {".c"};
  config.watches_binary = true;
  binary.modified = now.wall;
  time_passes(seconds(5));
  open();
  saves();
  opens(2);
  dies(1, 0);
  EXPECT_THAT(answer_of(2, 1), HasSubstr("nothing has built it since; build it, then call again"));
  time_passes(seconds(5));
  binary.modified = now.wall - milliseconds(1);
  binary_changes();
  time_passes(milliseconds(300));
  opens(3);
  dies(2, 0);
  EXPECT_THAT(answer_of(3, 2), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeServedChangeTest, WithoutAFileThatShowsABuildTheNextStartButOneHasIt) {
  open_built_script();
  saves("a.ts");
  opens(2);
  dies(1, 0);
  EXPECT_THAT(answer_of(2, 1), HasSubstr("a.ts changed just now and this answer is still the old "
                                         "code's: nothing has built it since"));
  client(call(2, "sitter_kill"));
  dies(2, 0);
  answer_of_next(3, 3);
  EXPECT_THAT(answer_of(3, 4), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeServedChangeTest, TheProgramBehindAScriptShowsItsBuild) {
  without_build();
  config.built_endings = {".c"};
  config.needs_no_build = true;
  binary.path = "/srv/run.sh";
  binary.interpreter.emplace();
  binary.behind = "/srv/app";
  binary.modified = now.wall;
  time_passes(seconds(5));
  open();
  saves();
  opens(2);
  dies(1, 0);
  Generation gen = 2;
  for (const bool is_built : {false, false, true}) {
    time_passes(seconds(5));
    if (is_built) binary.modified = now.wall;
    client(call(10 * gen, "sitter_kill"));
    dies(gen, 0);
    ++gen;
    EXPECT_EQ(answer_of_next(gen, 10 * gen + 1).find(kOldCode) == std::string::npos, is_built);
  }
}

TEST_F(BridgeServedChangeTest, ASourceThatComesAndGoesIsAChangeIfAProgramWasBuiltFromIt) {
  without_build();
  config.built_endings = {".c"};
  open();
  Generation gen = 1;
  // `gone`: how long after the build make, or somebody else, has removed the file.
  for (const auto& [gone, is_old] :
       {std::pair(milliseconds(-1), false), std::pair(milliseconds(1000), false),
        std::pair(milliseconds(1001), true)}) {
    SCOPED_TRACE(gone.count());
    binary.modified = now.wall;
    time_passes(seconds(5));
    changes("new.c", now.wall, true);
    reloads(gen);
    EXPECT_THAT(answer_of(gen, 10 * gen), HasSubstr(kOldCode));
    if (gone >= milliseconds(0)) binary.modified = now.wall;
    time_passes(std::max(gone, milliseconds(0)));
    changes("new.c");
    reloads(gen);
    EXPECT_EQ(answer_of(gen, 10 * gen).find(kOldCode) != std::string::npos, is_old);
  }
}

TEST_F(BridgeServedChangeTest, AFailedBuildThatHasWrittenTheProgramLeavesNoOldCode) {
  open();
  saves();
  time_passes(seconds(2));
  binary.modified = now.wall;
  dies(build(1), 2);
  client(call(1, "echo"));
  EXPECT_THAT(answer_of_old(1), HasSubstr("old code's: the build failed (exit 2)"));
  client(call(2, "sitter_kill", R"json({"restart": true})json"));
  dies(1, 0);
  opens(2);
  done();
  EXPECT_THAT(answer_of(2, 3), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeServedChangeTest, TheTimesOfTheFilesSayWhatWasBuiltLast) {
  open();
  Generation gen = 1;
  // `after`: when the file was written, seen from the program, which is built before it is noticed.
  for (const auto& [after, is_old] :
       {std::pair(milliseconds(-1), false), std::pair(milliseconds(1), true),
        // An old file was moved here. A file from the future was, too.
        std::pair(milliseconds(-60000), true), std::pair(milliseconds(60000), true)}) {
    SCOPED_TRACE(after.count());
    client(call(10 * gen, "sitter_kill"));
    dies(gen, 0);
    done();
    time_passes(seconds(60));
    binary.modified = now.wall - milliseconds(10);
    changes("a.c", *binary.modified + after);
    time_passes(milliseconds(300));
    EXPECT_EQ(answer_of_next(gen + 1, 10 * gen + 1).find("a.c changed") != std::string::npos,
              is_old);
    ++gen;
  }
}

TEST_F(BridgeServedChangeTest, AChangeOfAnotherFileLeavesAloneWhatIsServed) {
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves("a.c");
  time_passes(seconds(5));
  binary.modified = now.wall;
  time_passes(seconds(5));
  changes("b.c");
  time_passes(seconds(5));
  EXPECT_THAT(answer_of_next(2, 2), HasSubstr("b.c changed 5s ago"));
}

TEST_F(BridgeServedChangeTest, AProgramThatWasBuiltByHandNeedsOnlyARestart) {
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves();
  answer_of_next(2, 2);
  time_passes(seconds(5));
  source_changes("app");
  for (int id = 3; id < 5; ++id) {
    EXPECT_THAT(answer_of(2, id),
                HasSubstr("a.c changed 5s ago and this answer is still the old code's: "
                          "it was built since; call sitter_rebuild, then call again"));
  }
}

TEST_F(BridgeServedChangeTest, WithoutTheToolThatBuildsTheModelBuilds) {
  config.tools = {Builtin::kill};
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves();
  EXPECT_THAT(answer_of_next(2, 2),
              HasSubstr("nothing has built it since; build it, call sitter_kill"));
}

TEST_F(BridgeServedChangeTest, AKillBuildsNothingAndTheNextServerSaysSo) {
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves();
  EXPECT_THAT(answer_of_next(2, 2),
              HasSubstr("nothing has built it since; sitter_rebuild builds it"));
  client(rebuild(3));
  dies(build(1), 0);
  opens(3);
  done();
  EXPECT_THAT(answer_of(3, 4), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeServedChangeTest, AKillLeavesAFailedBuildToBeTold) {
  open();
  saves();
  dies(build(1), 2);
  client(call(1, "sitter_kill"));
  dies(1, 0);
  answer_of_next(2, 2);
  EXPECT_THAT(answer_of(2, 3), HasSubstr("old code's: the build failed (exit 2)"));
}

TEST_F(BridgeServedChangeTest, ASaveDuringTheBuildIsNotPartOfIt) {
  open();
  saves();
  time_passes(seconds(1));
  saves("second.c");
  time_passes(seconds(11));
  binary.modified = now.wall;
  dies(build(1), 0);
  opens(2);
  client(call(1, "echo"));
  time_passes(config.fresh_wait);
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), Contains(HasSubstr("second.c changed")));
}

TEST_F(BridgeServedChangeTest, AProgramThatWasBuiltInAnotherWayIsNew) {
  open();
  saves();
  dies(build(1), 2);
  time_passes(seconds(5));
  binary.modified = now.wall;
  client(call(1, "echo"));
  EXPECT_THAT(answer_of_old(1), HasSubstr(kOldCode));
  dies(1, 3);
  EXPECT_THAT(answer_of_next(2, 2), Not(HasSubstr(kOldCode)));
}

}  // namespace
}  // namespace sitter
