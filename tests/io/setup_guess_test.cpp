#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/rebuild/watch_filter.hpp"
#include "setup/guess.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::setup {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SetupGuessTest : public ::testing::Test {
 protected:
  Guess of(const Words& words) const { return guess(words, folder_.path(), false); }

  sitter::testing::TemporaryDirectory folder_;
};

TEST_F(SetupGuessTest, AProgramOfCargoIsBuiltInItsProfile) {
  folder_.write("Cargo.toml", "");
  folder_.write("src/main.rs", "");
  const Guess guess = of({"./target/debug/notes", "x"});
  EXPECT_EQ(guess.from, "Cargo.toml");
  EXPECT_EQ(guess.build, "cargo build");
  EXPECT_EQ(guess.build_cwd, "");
  EXPECT_THAT(guess.watch, ElementsAre("src", "Cargo.toml"));
  EXPECT_EQ(of({"target/release/notes"}).build, "cargo build --release");
  EXPECT_EQ(of({"./notes.sh"}).from, "");
}

TEST_F(SetupGuessTest, AProgramOfGoIsWrittenWhereItRuns) {
  folder_.write("go.mod", "");
  EXPECT_EQ(of({"./notes"}).build, "go build -o ./notes .");
  EXPECT_EQ(of({"./my notes"}).build, "go build -o './my notes' .");
  EXPECT_THAT(of({"./notes"}).watch, ElementsAre("*.go"));
}

TEST_F(SetupGuessTest, AScriptIsBuiltByItsPackageManager) {
  folder_.write("package.json", R"({"scripts": {"build": "tsc"}})");
  folder_.write("src/server.ts", "");
  EXPECT_EQ(of({"node", "--enable-source-maps", "dist/server.js"}).build, "npm run build");
  EXPECT_THAT(of({"node", "dist/server.js"}).watch, ElementsAre("src"));
  EXPECT_EQ(of({"node", "src/server.js"}).build, "");
  EXPECT_EQ(of({"node", "node_modules/x/server.js"}).build, "");
  folder_.write("pnpm-lock.yaml", "");
  EXPECT_EQ(of({"node", "dist/server.js"}).build, "pnpm run build");
}

TEST_F(SetupGuessTest, APackageWithoutABuildScriptGivesNothing) {
  folder_.write("package.json", R"({"scripts": {"test": "x"}})");
  EXPECT_EQ(of({"node", "dist/server.js"}).from, "");
  folder_.write("package.json", "broken");
  EXPECT_EQ(of({"node", "dist/server.js"}).from, "");
}

TEST_F(SetupGuessTest, AProgramOfCMakeIsBuiltInItsBuildFolder) {
  folder_.write("CMakePresets.json", "{}");
  EXPECT_EQ(of({"./build/dev/bin/notes"}).from, "");
  folder_.write("build/dev/CMakeCache.txt", "");
  EXPECT_EQ(of({"./build/dev/bin/notes"}).build, "cmake --build build/dev");
}

TEST_F(SetupGuessTest, AMakefileThatCMakeHasWrittenIsNone) {
  folder_.write("CMakeLists.txt", "");
  folder_.write("build/CMakeCache.txt", "");
  folder_.write("build/Makefile", "");
  const Guess guess = of({"./build/notes"});
  EXPECT_EQ(guess.from, "CMakeLists.txt");
  EXPECT_EQ(guess.build, "cmake --build build");
}

TEST_F(SetupGuessTest, AProgramBesideAMakefileIsMade) {
  folder_.write("Makefile", "");
  folder_.write("src/main.c", "");
  EXPECT_EQ(of({"./notes"}).build, "make");
  EXPECT_THAT(of({"./notes"}).watch, ElementsAre("src", "Makefile"));
  EXPECT_EQ(of({"./notes.sh"}).from, "");
}

TEST_F(SetupGuessTest, AServerInAnotherFolderIsNotGuessed) {
  folder_.write("pyproject.toml", "");
  EXPECT_EQ(of({"uv", "--directory", "/elsewhere", "run", "server.py"}).from, "");
  EXPECT_EQ(of({"uv", "run", "--project=/elsewhere", "server.py"}).from, "");
}

TEST_F(SetupGuessTest, AHookOfNodeIsNotTheServer) {
  folder_.write("package.json", R"json({"scripts": {"build": "tsc"}})json");
  EXPECT_EQ(of({"node", "--import", "./hook.js", "src/server.js"}).from, "");
  EXPECT_EQ(of({"node", "--import", "./src/hook.js", "dist/server.js"}).build, "npm run build");
}

TEST_F(SetupGuessTest, APythonFileIsOnlyWatched) {
  folder_.write("pyproject.toml", "");
  const Guess guess = of({"uv", "run", "server.py"});
  EXPECT_EQ(guess.build, "");
  EXPECT_THAT(guess.watch, ElementsAre("*.py"));
}

TEST_F(SetupGuessTest, ADotnetProjectIsFoundByItsEnding) {
  folder_.write("Notes.csproj", "");
  EXPECT_EQ(of({"dotnet", "bin/Debug/net8.0/notes.dll"}).build, "dotnet build");
  EXPECT_EQ(of({"dotnet", "bin/Debug/net8.0/notes.dll"}).from, "Notes.csproj");
}

TEST_F(SetupGuessTest, APublishedPackageIsNotBuilt) {
  folder_.write("package.json", R"({"scripts": {"build": "tsc"}})");
  folder_.write("pyproject.toml", "");
  for (const Words& words :
       {Words{"npx", "-y", "some-package"}, Words{"uvx", "server.py"},
        Words{"docker", "run", "./x.js"}, Words{"notes"}, Words{"${HOME}/x.py"}}) {
    EXPECT_EQ(of(words).from, "") << words.front();
  }
}

TEST_F(SetupGuessTest, TheNearestProjectCounts) {
  folder_.write("Cargo.toml", "");
  folder_.write("tools/package.json", "{}");
  EXPECT_EQ(of({"./tools/target/notes"}).from, "");
}

TEST_F(SetupGuessTest, AProjectElsewhereIsNamedByItsWholePath) {
  folder_.write("sub/go.mod", "");
  folder_.write("sub/main.go", "");
  const std::string root = folder_ / "sub";
  const Guess guess = of({root + "/notes"});
  EXPECT_EQ(guess.build_cwd, root);
  ASSERT_EQ(guess.watch.size(), 1);
  const WatchFilter filter(guess.watch, "/elsewhere");
  EXPECT_TRUE(filter.takes_file(root + "/main.go"));
  EXPECT_TRUE(filter.takes_file(root + "/a/b.go"));
  EXPECT_FALSE(filter.takes_file(root + "/main.c"));
  EXPECT_FALSE(filter.takes_file("/elsewhere/main.go"));
}

TEST_F(SetupGuessTest, WhereTheFolderIsUnknownAllPathsAreWhole) {
  folder_.write("Cargo.toml", "");
  const Guess elsewhere = guess({"./target/debug/notes"}, folder_.path(), true);
  EXPECT_EQ(elsewhere.build_cwd, folder_.path());
  EXPECT_THAT(elsewhere.watch, ElementsAre(folder_ / "Cargo.toml"));
}

}  // namespace
}  // namespace sitter::setup
