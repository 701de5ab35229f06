#include "core/rebuild/watch_filter.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

WatchFilter watching(const std::vector<std::string>& patterns) { return {patterns, "/p"}; }

using Paths = std::vector<std::string>;

/// What a filter says of paths that are known from its patterns alone. A folder ends with a slash.
struct Rule {
  std::string_view name;
  Paths patterns;
  Paths roots;
  Paths takes = {};
  Paths leaves = {};
  /// With a drive, the filter is one of Windows.
  std::string base = "/p";
};

const std::vector<Rule> kRules = {
    {.name = "a folder means everything below it",
     .patterns = {"src"},
     .roots = {"/p/src"},
     .takes = {"/p/src/a.c", "/p/src/x/y/a", "/p/src/x/"},
     .leaves = {"/p/srcs/a.c", "/p/lib/src/a.c", "/p/"}},
    {.name = "a path is one file",
     .patterns = {"server.py"},
     .roots = {"/p/server.py"},
     .takes = {"/p/server.py"},
     .leaves = {"/p/lib/server.py"}},
    {.name = "a dot is the base and two are its parent",
     .patterns = {".", "./src/", "../lib", "../../../top", "/etc/x"},
     .roots = {"/p", "/p/src", "/lib", "/top", "/etc/x"}},
    {.name = "a name with a wildcard is meant at any depth",
     .patterns = {"*.py"},
     .roots = {"/p"},
     .takes = {"/p/a.py", "/p/x/y/a.py", "/p/x/y/"},
     .leaves = {"/p/a.c"}},
    {.name = "a wildcard behind a slash counts from the folder before",
     .patterns = {"src/*.c"},
     .roots = {"/p/src"},
     .takes = {"/p/src/a.c", "/p/src/"},
     .leaves = {"/p/src/x/a.c", "/p/src/x/"}},
    {.name = "folders that a pattern cannot reach are not taken",
     .patterns = {"packages/*/src", "lib/**/*.c"},
     .roots = {"/p/packages", "/p/lib"},
     .takes = {"/p/packages/a/", "/p/packages/a/src/deep/", "/p/packages/a/src/deep/x.ts",
               "/p/lib/x/y/z/"},
     .leaves = {"/p/packages/a/test/"}},
    {.name = "an exclamation mark leaves out, and the last pattern decides",
     .patterns = {"src", "!*.gen.c", "!src/old", "src/old/a.gen.c"},
     .roots = {"/p/src", "/p/src/old/a.gen.c"},
     .takes = {"/p/src/a.c", "/p/src/old/a.gen.c"},
     .leaves = {"/p/src/x/b.gen.c", "/p/src/old/a.c"}},
    {.name = "a name that is left out is left out at any depth",
     .patterns = {"src", "../lib", "!generated"},
     .roots = {"/p/src", "/lib"},
     .leaves = {"/p/src/x/generated/a.c", "/p/src/generated/", "/lib/generated"}},
    {.name = "the output of tools is left out",
     .patterns = {"."},
     .roots = {"/p"},
     .takes = {"/p/build/"},
     .leaves = {"/p/x/.git/", "/p/.git/a.c", "/p/x/node_modules/", "/p/x/__pycache__/",
                "/p/x/.venv/", "/p/venv/x/a.c", "/p/x/.tox/", "/p/x/.mypy_cache/",
                "/p/x/.pytest_cache/", "/p/x/.gradle/", "/p/x/.next/", "/p/x/.turbo/"}},
    {.name = "the temporary files of editors are left out",
     .patterns = {"src"},
     .roots = {"/p/src"},
     .leaves = {"/p/src/.a.c.swp", "/p/src/.a.c.swo", "/p/src/.a.c.swx", "/p/src/4913",
                "/p/src/a.c~", "/p/src/.#a.c", "/p/src/#a.c#", "/p/src/.DS_Store"}},
    {.name = "a pattern overrides the default exclusions",
     .patterns = {"venv", "**/.venv/*.js", ".tox/server.js", "**/*.js"},
     .roots = {"/p/venv", "/p", "/p/.tox/server.js", "/p"},
     .takes = {"/p/venv/a.js", "/p/x/.venv/a.js", "/p/.tox/server.js"},
     .leaves = {"/p/x/venv/a.js", "/p/venv/node_modules/a.js"}},
    {.name = "a backslash takes a wildcard as it is",
     .patterns = {"a\\*.c", "\\!b.c"},
     .roots = {"/p/a*.c", "/p/!b.c"},
     .takes = {"/p/a*.c", "/p/!b.c"},
     .leaves = {"/p/ab.c"}},
    {.name = "case matters",
     .patterns = {"src"},
     .roots = {"/p/src"},
     .leaves = {"/p/Src/a", "/P/src/a"}},
    {.name = "on Windows, a drive is a root",
     .patterns = {"src", "d:/Lib/x.c", "E:/gen/*.c", "/top", "../../../up", "..", "//host/share/a",
                  "F:/*.c"},
     .roots = {"C:/P/src", "D:/Lib/x.c", "E:/gen", "C:/top", "C:/up", "C:", "//host/share/a", "F:"},
     .takes = {"D:/Lib/x.c", "E:/gen/a.c", "F:/a.c", "//host/share/a/x.c"},
     .leaves = {"E:/gen/x/a.c", "F:/x/a.c"},
     .base = "C:/P"},
    {.name = "on Windows, the base has a capital drive",
     .patterns = {"*.c", "src"},
     .roots = {"C:/p", "C:/p/src"},
     .base = "c:/p"},
    {.name = "on Windows, the parent of a root is the root",
     .patterns = {"C:/../a", "//host/share/../a"},
     .roots = {"C:/a", "//host/share/a"},
     .base = "C:/P"},
    {.name = "on Windows, a backslash is a slash",
     .patterns = {"src\\*.c", ".\\lib\\", "d:\\x\\**\\*.h", "!lib\\old"},
     .roots = {"C:/P/src", "C:/P/lib", "D:/x"},
     .takes = {"C:/P/src/a.c", "C:/P/lib/x/a", "D:/x/y/z/a.h"},
     .leaves = {"C:/P/lib/old/a"},
     .base = "C:/P"},
    {.name = "on Windows, case does not matter",
     .patterns = {"Src", "*.PY", "!Old", "lib/[A-C]*/Gen.c"},
     .roots = {"C:/P/Src", "C:/P", "C:/P/lib"},
     .takes = {"c:/p/SRC/a", "C:/P/x/a.py", "C:/P/Lib/b/gEN.c"},
     .leaves = {"C:/P/src/OLD/a", "C:/P/Node_Modules/"},
     .base = "C:/P"},
};

bool takes(const WatchFilter& filter, std::string path) {
  if (!path.ends_with('/')) return filter.takes_file(path);
  path.pop_back();
  return filter.takes_folder(path);
}

TEST(WatchFilter, KeepsTheRulesOfTheTable) {
  for (const Rule& rule : kRules) {
    SCOPED_TRACE(rule.name);
    const bool is_windows = rule.base.find(':') != rule.base.npos;
    const WatchFilter filter(rule.patterns, rule.base,
                             is_windows ? PathStyle::windows : PathStyle::posix);
    EXPECT_EQ(filter.roots(), rule.roots);
    for (const std::string& path : rule.takes) EXPECT_TRUE(takes(filter, path)) << path;
    for (const std::string& path : rule.leaves) EXPECT_FALSE(takes(filter, path)) << path;
  }
}

TEST(WatchFilter, TheBaseHasACapitalDrive) {
  EXPECT_EQ(WatchFilter({"src"}, "c:/p", PathStyle::windows).base(), "C:/p");
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

TEST(WatchFilter, APatternOverridesAnIgnoreFile) {
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

WatchFilter watching_on_windows(const std::vector<std::string>& patterns) {
  return {patterns, "C:/P", PathStyle::windows};
}

TEST(WatchFilter, APatternIsToldAsItWasGiven) {
  const WatchFilter filter =
      watching_on_windows({"src\\*.c", ".\\lib\\", "d:\\x\\**\\*.h", "!lib\\old"});
  EXPECT_EQ(filter.unmatched(),
            (std::vector<std::string>{"src\\*.c", ".\\lib\\", "d:\\x\\**\\*.h"}));
}

TEST(WatchFilter, OnWindowsTheCaseOfAFileDoesNotMatter) {
  WatchFilter filter = watching_on_windows({"Src", "*.PY", "!Old", "lib/[A-C]*/Gen.c"});
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

TEST(WatchFilter, AFolderWithTheSamePrefixIsNotBelow) {
  EXPECT_TRUE(is_at_or_below("/a/b", "/a/b"));
  EXPECT_TRUE(is_at_or_below("/a/b/c/d", "/a/b"));
  EXPECT_TRUE(is_at_or_below("/a", ""));
  EXPECT_FALSE(is_at_or_below("/a/bc", "/a/b"));
  EXPECT_FALSE(is_at_or_below("/a", "/a/b"));
}

}  // namespace
}  // namespace sitter
