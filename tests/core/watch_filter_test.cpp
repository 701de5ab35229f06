#include "core/rebuild/watch_filter.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

WatchFilter watching(const std::vector<std::string>& patterns) { return {patterns, "/p"}; }

TEST(WatchFilter, AFolderMeansEverythingBelowIt) {
  const WatchFilter filter = watching({"src"});
  EXPECT_EQ(filter.roots(), std::vector<std::string>{"/p/src"});
  EXPECT_TRUE(filter.takes_file("/p/src/a.c"));
  EXPECT_TRUE(filter.takes_file("/p/src/x/y/a"));
  EXPECT_TRUE(filter.takes_folder("/p/src/x"));
  EXPECT_FALSE(filter.takes_file("/p/srcs/a.c"));
  EXPECT_FALSE(filter.takes_file("/p/lib/src/a.c"));
  EXPECT_FALSE(filter.takes_folder("/p"));
}

TEST(WatchFilter, APathIsOneFile) {
  const WatchFilter filter = watching({"server.py"});
  EXPECT_TRUE(filter.takes_file("/p/server.py"));
  EXPECT_FALSE(filter.takes_file("/p/lib/server.py"));
}

TEST(WatchFilter, ADotIsTheBaseAndTwoAreItsParent) {
  EXPECT_EQ(watching({"."}).roots(), std::vector<std::string>{"/p"});
  EXPECT_EQ(watching({"./src/"}).roots(), std::vector<std::string>{"/p/src"});
  EXPECT_EQ(watching({"../lib"}).roots(), std::vector<std::string>{"/lib"});
  EXPECT_EQ(watching({"../../../lib"}).roots(), std::vector<std::string>{"/lib"});
  EXPECT_EQ(watching({"/etc/x"}).roots(), std::vector<std::string>{"/etc/x"});
}

TEST(WatchFilter, ANameWithAWildcardIsMeantAtAnyDepth) {
  const WatchFilter filter = watching({"*.py"});
  EXPECT_EQ(filter.roots(), std::vector<std::string>{"/p"});
  EXPECT_TRUE(filter.takes_file("/p/a.py"));
  EXPECT_TRUE(filter.takes_file("/p/x/y/a.py"));
  EXPECT_TRUE(filter.takes_folder("/p/x/y"));
  EXPECT_FALSE(filter.takes_file("/p/a.c"));
}

TEST(WatchFilter, AWildcardBehindASlashCountsFromTheFolderBefore) {
  const WatchFilter filter = watching({"src/*.c"});
  EXPECT_EQ(filter.roots(), std::vector<std::string>{"/p/src"});
  EXPECT_TRUE(filter.takes_file("/p/src/a.c"));
  EXPECT_FALSE(filter.takes_file("/p/src/x/a.c"));
}

TEST(WatchFilter, FoldersThatAPatternCannotReachAreNotTaken) {
  const WatchFilter flat = watching({"src/*.c"});
  EXPECT_TRUE(flat.takes_folder("/p/src"));
  EXPECT_FALSE(flat.takes_folder("/p/src/x"));
  const WatchFilter packages = watching({"packages/*/src"});
  EXPECT_TRUE(packages.takes_folder("/p/packages/a"));
  EXPECT_TRUE(packages.takes_folder("/p/packages/a/src/deep"));
  EXPECT_FALSE(packages.takes_folder("/p/packages/a/test"));
  EXPECT_TRUE(packages.takes_file("/p/packages/a/src/deep/x.ts"));
  EXPECT_TRUE(watching({"src/**/*.c"}).takes_folder("/p/src/x/y/z"));
}

TEST(WatchFilter, AnExclamationMarkLeavesOutAndTheLastPatternDecides) {
  const WatchFilter filter = watching({"src", "!*.gen.c", "!src/old", "src/old/a.gen.c"});
  EXPECT_TRUE(filter.takes_file("/p/src/a.c"));
  EXPECT_FALSE(filter.takes_file("/p/src/x/b.gen.c"));
  EXPECT_FALSE(filter.takes_file("/p/src/old/a.c"));
  EXPECT_TRUE(filter.takes_file("/p/src/old/a.gen.c"));
  EXPECT_EQ(filter.roots(), (std::vector<std::string>{"/p/src", "/p/src/old/a.gen.c"}));
}

TEST(WatchFilter, ANameThatIsLeftOutIsLeftOutAtAnyDepth) {
  const WatchFilter filter = watching({"src", "../lib", "!generated"});
  EXPECT_FALSE(filter.takes_file("/p/src/x/generated/a.c"));
  EXPECT_FALSE(filter.takes_folder("/p/src/generated"));
  EXPECT_FALSE(filter.takes_file("/lib/generated"));
}

TEST(WatchFilter, LeavesOutTheOutputOfTools) {
  const WatchFilter filter = watching({"."});
  for (const char* const name : {".git", "node_modules", "__pycache__", ".venv", "venv", ".tox",
                                 ".mypy_cache", ".pytest_cache", ".gradle", ".next", ".turbo"}) {
    EXPECT_FALSE(filter.takes_folder(std::string("/p/x/") + name)) << name;
    EXPECT_FALSE(filter.takes_file(std::string("/p/") + name + "/x/a.c")) << name;
  }
  EXPECT_TRUE(filter.takes_folder("/p/build"));
}

TEST(WatchFilter, AFolderThatToolsHaveMadeIsLeftOut) {
  WatchFilter filter = watching({".", "env/lib/x.py"});
  EXPECT_TRUE(filter.set_made_by_tools("/p/env", true));
  EXPECT_FALSE(filter.set_made_by_tools("/p/env", true));
  EXPECT_FALSE(filter.takes_file("/p/env/bin/a.py"));
  EXPECT_TRUE(filter.takes_file("/p/env/lib/x.py"));
  EXPECT_TRUE(filter.takes_file("/p/environment/a.py"));
  EXPECT_TRUE(filter.set_made_by_tools("/p/env", false));
  EXPECT_FALSE(filter.set_made_by_tools("/p/env", false));
  EXPECT_TRUE(filter.takes_file("/p/env/bin/a.py"));
}

TEST(WatchFilter, AFolderThatAPatternNamesIsWatchedWhoeverHasMadeIt) {
  WatchFilter filter = watching({"env"});
  filter.set_made_by_tools("/p/env", true);
  EXPECT_TRUE(filter.takes_file("/p/env/lib/x.py"));
}

TEST(WatchFilter, ForgetsTheRulesOfADeletedFolder) {
  WatchFilter filter = watching({"."});
  for (const std::string folder : {"/p/x", "/p/x/y", "/p/x-y", "/p/x0"}) {
    filter.set_ignore_file(folder, "*.log\n");
    filter.set_made_by_tools(folder + "/env", true);
  }
  filter.forget("/p/x");
  for (const std::string folder : {"/p/x", "/p/x/y"}) {
    EXPECT_TRUE(filter.takes_file(folder + "/a.log")) << folder;
    EXPECT_TRUE(filter.takes_folder(folder + "/env")) << folder;
  }
  for (const std::string folder : {"/p/x-y", "/p/x0"}) {
    EXPECT_FALSE(filter.takes_file(folder + "/a.log")) << folder;
    EXPECT_FALSE(filter.takes_folder(folder + "/env")) << folder;
  }
}

TEST(WatchFilter, APatternIsUnmatchedUntilItHasAFile) {
  WatchFilter filter = watching({"src/*.cc", "lib", "!*.log", "main.py"});
  EXPECT_EQ(filter.unmatched(), (std::vector<std::string>{"src/*.cc", "lib", "main.py"}));
  filter.on_file("/p/src/a.c");
  filter.on_file("/p/a.log");
  EXPECT_EQ(filter.unmatched(), (std::vector<std::string>{"src/*.cc", "lib", "main.py"}));
  filter.on_file("/p/lib/x/y");
  EXPECT_EQ(filter.unmatched(), (std::vector<std::string>{"src/*.cc", "main.py"}));
  filter.on_file("/p/src/a.cc");
  filter.on_file("/p/main.py");
  EXPECT_TRUE(filter.unmatched().empty());
}

TEST(WatchFilter, AFileThatIsIgnoredMatchesNoPattern) {
  WatchFilter filter = watching({"*.py"});
  filter.on_file("/p/.venv/lib/a.py");
  EXPECT_EQ(filter.unmatched(), std::vector<std::string>{"*.py"});
}

TEST(WatchFilter, TracksUnmatchedPatternsSeparately) {
  WatchFilter filter = watching({".", "*.py"});
  filter.on_file("/p/a.c");
  EXPECT_EQ(filter.unmatched(), std::vector<std::string>{"*.py"});
}

TEST(WatchFilter, LeavesOutTheTemporaryFilesOfEditors) {
  const WatchFilter filter = watching({"src"});
  for (const char* const name :
       {".a.c.swp", ".a.c.swo", ".a.c.swx", "4913", "a.c~", ".#a.c", "#a.c#", ".DS_Store"}) {
    EXPECT_FALSE(filter.takes_file(std::string("/p/src/") + name)) << name;
  }
}

TEST(WatchFilter, APatternOverridesTheDefaultExclusions) {
  EXPECT_TRUE(watching({"venv"}).takes_file("/p/venv/a.js"));
  EXPECT_TRUE(watching({"venv/server.js"}).takes_file("/p/venv/server.js"));
  EXPECT_TRUE(watching({"**/venv/*.js"}).takes_file("/p/x/venv/a.js"));
  EXPECT_FALSE(watching({"**/*.js"}).takes_file("/p/x/venv/a.js"));
  EXPECT_FALSE(watching({"venv"}).takes_file("/p/venv/node_modules/a.js"));
  WatchFilter filter = watching({"out"});
  filter.set_ignore_file("/p", "out/\n");
  EXPECT_TRUE(filter.takes_file("/p/out/a.js"));
}

TEST(WatchFilter, IgnoreFilesCountForTheirFolderAndTheNearestDecides) {
  WatchFilter filter = watching({"."});
  filter.set_ignore_file("/p", "*.log\n/gen\n");
  filter.set_ignore_file("/p/src", "!a.log\n");
  EXPECT_FALSE(filter.takes_file("/p/a.log"));
  EXPECT_TRUE(filter.takes_file("/p/src/a.log"));
  EXPECT_FALSE(filter.takes_file("/p/src/b.log"));
  EXPECT_FALSE(filter.takes_file("/p/gen/x/a.c"));
  EXPECT_TRUE(filter.takes_file("/p/src/gen/a.c"));
}

TEST(WatchFilter, AnIgnoreFileAboveTheRootCounts) {
  WatchFilter filter = watching({"src"});
  filter.set_ignore_file("/p", "/src/gen/\n");
  EXPECT_FALSE(filter.takes_folder("/p/src/gen"));
  EXPECT_TRUE(filter.takes_file("/p/src/gen"));
}

TEST(WatchFilter, AnIgnoreFileMayTakeBackWhatIsAlwaysLeftOut) {
  WatchFilter filter = watching({"."});
  filter.set_made_by_tools("/p/build", true);
  filter.set_ignore_file("/p", "!build\n!venv\n");
  EXPECT_TRUE(filter.takes_file("/p/build/a.c"));
  EXPECT_TRUE(filter.takes_file("/p/venv/a.c"));
}

TEST(WatchFilter, AnIgnoreFileThatIsGoneSaysNothing) {
  WatchFilter filter = watching({"."});
  filter.set_ignore_file("/p", "*.log\n");
  filter.set_ignore_file("/p", {});
  EXPECT_TRUE(filter.takes_file("/p/a.log"));
}

TEST(WatchFilter, WhatIsInAnIgnoredFolderCannotBeTakenBack) {
  WatchFilter filter = watching({"."});
  filter.set_ignore_file("/p", "gen/\n!gen/a.c\n");
  EXPECT_FALSE(filter.takes_file("/p/gen/a.c"));
}

TEST(WatchFilter, ABackslashTakesAWildcardAsItIs) {
  const WatchFilter filter = watching({"a\\*.c", "\\!b.c"});
  EXPECT_TRUE(filter.takes_file("/p/a*.c"));
  EXPECT_FALSE(filter.takes_file("/p/ab.c"));
  EXPECT_TRUE(filter.takes_file("/p/!b.c"));
}

WatchFilter watching_on_windows(const std::vector<std::string>& patterns) {
  return {patterns, "C:/P", PathStyle::windows};
}

TEST(WatchFilter, OnWindowsADriveIsARoot) {
  const WatchFilter filter = watching_on_windows(
      {"src", "d:/Lib/x.c", "E:/gen/*.c", "/top", "../../../up", "..", "//host/share/a", "F:/*.c"});
  EXPECT_EQ(filter.roots(), (std::vector<std::string>{"C:/P/src", "D:/Lib/x.c", "E:/gen", "C:/top",
                                                      "C:/up", "C:", "//host/share/a", "F:"}));
  EXPECT_TRUE(filter.takes_file("D:/Lib/x.c"));
  EXPECT_TRUE(filter.takes_file("E:/gen/a.c"));
  EXPECT_FALSE(filter.takes_file("E:/gen/x/a.c"));
  EXPECT_TRUE(filter.takes_file("F:/a.c"));
  EXPECT_FALSE(filter.takes_file("F:/x/a.c"));
  EXPECT_TRUE(filter.takes_file("//host/share/a/x.c"));
}

TEST(WatchFilter, OnWindowsTheBaseHasACapitalDrive) {
  const WatchFilter filter({"*.c", "src"}, "c:/p", PathStyle::windows);
  EXPECT_EQ(filter.base(), "C:/p");
  EXPECT_EQ(filter.roots(), (std::vector<std::string>{"C:/p", "C:/p/src"}));
}

TEST(WatchFilter, OnWindowsTheParentOfARootIsTheRoot) {
  EXPECT_EQ(watching_on_windows({"C:/../a"}).roots(), std::vector<std::string>{"C:/a"});
  EXPECT_EQ(watching_on_windows({"//host/share/../a"}).roots(),
            std::vector<std::string>{"//host/share/a"});
}

TEST(WatchFilter, OnWindowsABackslashIsASlash) {
  const WatchFilter filter =
      watching_on_windows({"src\\*.c", ".\\lib\\", "d:\\x\\**\\*.h", "!lib\\old"});
  EXPECT_EQ(filter.roots(), (std::vector<std::string>{"C:/P/src", "C:/P/lib", "D:/x"}));
  EXPECT_TRUE(filter.takes_file("C:/P/src/a.c"));
  EXPECT_TRUE(filter.takes_file("C:/P/lib/x/a"));
  EXPECT_FALSE(filter.takes_file("C:/P/lib/old/a"));
  EXPECT_TRUE(filter.takes_file("D:/x/y/z/a.h"));
  EXPECT_EQ(filter.unmatched(),
            (std::vector<std::string>{"src\\*.c", ".\\lib\\", "d:\\x\\**\\*.h"}));
}

TEST(WatchFilter, OnWindowsCaseDoesNotMatter) {
  WatchFilter filter = watching_on_windows({"Src", "*.PY", "!Old", "lib/[A-C]*/Gen.c"});
  EXPECT_EQ(filter.roots(), (std::vector<std::string>{"C:/P/Src", "C:/P", "C:/P/lib"}));
  EXPECT_TRUE(filter.takes_file("c:/p/SRC/a"));
  EXPECT_TRUE(filter.takes_file("C:/P/x/a.py"));
  EXPECT_FALSE(filter.takes_file("C:/P/src/OLD/a"));
  EXPECT_TRUE(filter.takes_file("C:/P/Lib/b/gEN.c"));
  EXPECT_FALSE(filter.takes_folder("C:/P/Node_Modules"));
  EXPECT_TRUE(filter.is_left_out_name("NODE_MODULES"));
  filter.on_file("c:/p/sRC/a");
  EXPECT_EQ(filter.unmatched(), (std::vector<std::string>{"*.PY", "lib/[A-C]*/Gen.c"}));
}

TEST(WatchFilter, OnWindowsTheCaseOfFoldersAndIgnoreFilesDoesNotMatter) {
  WatchFilter filter = watching_on_windows({"."});
  filter.set_ignore_file("C:/P/Gen", "*.LOG\n");
  filter.set_made_by_tools("C:/P/Build", true);
  EXPECT_FALSE(filter.takes_file("C:/P/gen/a.log"));
  EXPECT_FALSE(filter.takes_file("C:/P/build/a.c"));
  EXPECT_FALSE(filter.set_made_by_tools("C:/P/BUILD", true));
  filter.forget("c:/p/GEN");
  filter.forget("c:/p/BUILD");
  EXPECT_TRUE(filter.takes_file("C:/P/gen/a.log"));
  EXPECT_TRUE(filter.takes_file("C:/P/build/a.c"));
}

TEST(WatchFilter, ElsewhereCaseMatters) {
  const WatchFilter filter = watching({"src"});
  EXPECT_FALSE(filter.takes_file("/p/Src/a"));
  EXPECT_FALSE(filter.takes_file("/P/src/a"));
}

TEST(WatchFilter, AFolderWithTheSamePrefixIsNotBelow) {
  EXPECT_TRUE(is_at_or_below("/a/b", "/a/b"));
  EXPECT_TRUE(is_at_or_below("/a/b/c/d", "/a/b"));
  EXPECT_TRUE(is_at_or_below("/a", ""));
  EXPECT_FALSE(is_at_or_below("/a/bc", "/a/b"));
  EXPECT_FALSE(is_at_or_below("/a", "/a/b"));
}

}  // namespace
}  // namespace sitter
