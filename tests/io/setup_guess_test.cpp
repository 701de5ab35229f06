#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "core/rebuild/watch_filter.hpp"
#include "setup_guess_script.hpp"
#include "support/own_descriptor.hpp"

namespace sitter::setup {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SetupGuessTest, AProgramOfCargoIsBuiltInItsProfile) {
  folder_.write("Cargo.toml", "");
  folder_.write("src/main.rs", "");
  const Guess guess = of({"./target/debug/notes", "x"});
  EXPECT_EQ(guess.from, "Cargo.toml");
  EXPECT_EQ(guess.build, "cargo build");
  EXPECT_EQ(guess.build_cwd, "");
  EXPECT_THAT(guess.watch, ElementsAre("src", "Cargo.toml"));
  EXPECT_EQ(of({"target/release/notes"}).build, "cargo build --release");
  EXPECT_THAT(of({"target/release/notes"}).problem, HasSubstr("no cargo in PATH"));
}

TEST_F(SetupGuessTest, CargoKnowsThePackageAndWhatItNeeds) {
  folder_.write("Cargo.toml", "");
  const auto package = [&](const std::string& name, const std::string& kind,
                           const std::string& needed) {
    return R"({"name": "p-)" + name + R"(", "manifest_path": ")" + folder_ / name +
           R"(/Cargo.toml", "targets": [{"name": ")" + name + R"(", "kind": [")" + kind +
           R"("], "src_path": ")" + folder_ / name + R"(/src/x.rs"}], "dependencies": [{"name": )" +
           R"("serde"})" + (needed.empty() ? "" : R"(, {"path": ")" + folder_ / needed + "\"}") +
           "]}";
  };
  tool_says("cargo", R"({"packages": [)" + package("notes", "bin", "base") + ", " +
                         package("base", "lib", "") + ", " + package("other", "bin", "base") +
                         "]}");
  const Guess guess = of({"./target/release/notes"});
  EXPECT_EQ(guess.from, "Cargo.toml and cargo metadata");
  EXPECT_EQ(guess.build, "cargo build --release -p p-notes");
  EXPECT_THAT(guess.watch, ElementsAre("base", "notes", "Cargo.toml"));
  EXPECT_EQ(guess.problem, "");
}

TEST_F(SetupGuessTest, TheOnlyPackageOfCargoNeedsNoName) {
  folder_.write("Cargo.toml", "");
  folder_.write("build.rs", "");
  const std::string source = folder_ / "code/main.rs", script = folder_ / "build.rs";
  tool_says("cargo",
            R"({"packages": [{"name": "notes", "manifest_path": ")" + folder_ / "Cargo.toml" +
                R"(", "targets": [{"name": "notes", "kind": ["bin"], "src_path": ")" + source +
                R"("}, {"kind": ["custom-build"], "src_path": ")" + script + R"("}]}]})");
  EXPECT_EQ(of({"./target/debug/notes"}).build, "cargo build");
  EXPECT_THAT(of({"./target/debug/notes"}).watch, ElementsAre("code", "build.rs", "Cargo.toml"));
  EXPECT_THAT(of({"./target/debug/other"}).problem, HasSubstr("does not know"));
}

TEST_F(SetupGuessTest, AToolThatFailsOrSaysNonsenseIsNotFollowed) {
  folder_.write("Cargo.toml", "");
  folder_.write("src/main.rs", "");
  for (const std::string& commands : Words{"exit 1", "echo", "echo '{\"packages\": [3, {}]}'",
                                           "/bin/cat '" + tools_.write("deep", deep_) + "'"}) {
    tools_.write_script("cargo", commands);
    const Guess guess = of({"./target/debug/notes"});
    EXPECT_EQ(guess.from, "Cargo.toml") << commands;
    EXPECT_THAT(guess.watch, ElementsAre("src", "Cargo.toml")) << commands;
    EXPECT_THAT(guess.problem, HasSubstr("the names of files decided")) << commands;
  }
}

TEST_F(SetupGuessTest, AToolThatSaysTooMuchIsKilled) {
  folder_.write("Cargo.toml", "");
  tools_.write_script("cargo", "exec /usr/bin/yes");
  EXPECT_THAT(of({"./target/debug/notes"}).problem, HasSubstr("cargo says too much"));
}

TEST_F(SetupGuessTest, AToolNeitherWritesNorDownloads) {
  folder_.write("go.mod", "");
  tools_.write_script("go", "echo $GOPROXY $RUSTUP_AUTO_INSTALL $1 $2 >'" + folder_ / "asked'");
  of({"./notes"});
  EXPECT_EQ(testing::contents_of(folder_ / "asked"), "off 0 list -mod=readonly\n");
}

TEST_F(SetupGuessTest, WhatAToolHasStartedEndsWithIt) {
  folder_.write("go.mod", "");
  folder_.write("cmd/notes/main.go", "");
  const std::string held = folder_ / "held";
  ASSERT_EQ(mkfifo(held.c_str(), 0600), 0);
  const testing::OwnDescriptor pipe(open(held.c_str(), O_RDONLY | O_NONBLOCK));
  const auto expect = [&](const std::string& last, const Asking& asking, const char* problem) {
    tools_.write_script("go", "exec 3>'" + held + "'; echo >&3; /bin/sleep 1000 & " + last);
    const Guess guess = setup::guess({"./notes"}, folder_.path(), false, asking);
    EXPECT_EQ(guess.build, "go build -o ./notes ./cmd/notes");
    EXPECT_THAT(guess.problem, HasSubstr(problem));
    char byte = 0;
    while (read(pipe.number(), &byte, 1) == 1) continue;
    pollfd end{pipe.number(), POLLIN, 0};
    EXPECT_EQ(poll(&end, 1, 60'000), 1);
    EXPECT_EQ(read(pipe.number(), &byte, 1), 0);
  };
  expect("wait", {.time = std::chrono::milliseconds(200)}, "takes too long");
  expect("exit 1", {}, "fails here");
}

TEST_F(SetupGuessTest, AProgramOfGoIsWrittenWhereItRuns) {
  folder_.write("go.mod", "");
  folder_.write("main.go", "");
  EXPECT_EQ(of({"./notes"}).build, "go build -o ./notes .");
  EXPECT_EQ(of({"./my notes"}).build, "go build -o \"./my notes\" .");
  EXPECT_THAT(of({"./notes"}).watch, ElementsAre("*.go"));
}

TEST_F(SetupGuessTest, GoKnowsWhichPackageIsTheProgram) {
  folder_.write("go.mod", "");
  const std::string root = folder_.path();
  tool_says("go",
            "base " + root + "/base\nmain " + root + "/cmd/notes\nmain " + root + "/cmd/other\n");
  EXPECT_EQ(of({"./bin/notes"}).build, "go build -o ./bin/notes ./cmd/notes");
  EXPECT_EQ(of({"./bin/notes"}).from, "go.mod and go list");
  EXPECT_EQ(of({"./bin/third"}).build, "");
  EXPECT_THAT(of({"./bin/third"}).problem, HasSubstr("none of the programs is called third"));
  tool_says("go", "main " + root + "/cmd/notes\nmain " + root + "\n");
  EXPECT_EQ(of({"./bin/third"}).build, "go build -o ./bin/third .");
  tool_says("go", "main " + root + "/cmd/notes\n");
  EXPECT_EQ(of({"./bin/third"}).build, "go build -o ./bin/third ./cmd/notes");
}

TEST_F(SetupGuessTest, WithoutGoTheUsualFolderIsTheProgram) {
  folder_.write("go.mod", "");
  folder_.write("cmd/notes/main.go", "");
  EXPECT_EQ(of({"./notes"}).build, "go build -o ./notes ./cmd/notes");
  EXPECT_EQ(of({"./other"}).build, "");
}

TEST_F(SetupGuessTest, AScriptIsBuiltByItsPackageManager) {
  folder_.write("package.json", R"({"scripts": {"build": "tsc"}})");
  folder_.write("src/server.ts", "");
  EXPECT_EQ(of({"node", "--enable-source-maps", "dist/server.js"}).build, "npm run build");
  EXPECT_THAT(of({"node", "dist/server.js"}).watch, ElementsAre("src", "package.json"));
  EXPECT_EQ(of({"node", "src/server.js"}).build, "");
  EXPECT_EQ(of({"node", "node_modules/x/server.js"}).from, "");
  folder_.write("pnpm-lock.yaml", "");
  EXPECT_EQ(of({"node", "dist/server.js"}).build, "pnpm run build");
}

TEST_F(SetupGuessTest, SourcesBesideThePackageFileAreWatched) {
  folder_.write("package.json", R"({"scripts": {"build": "tsc"}})");
  folder_.write("server.ts", "");
  folder_.write("other.js", "");
  EXPECT_THAT(of({"node", "dist/server.js"}).watch, ElementsAre("*.ts", "package.json"));
}

TEST_F(SetupGuessTest, TheSourcesOfTypeScriptAreInItsRoot) {
  folder_.write("package.json", R"json({"scripts": {"build": "tsc"}})json");
  folder_.write("lib/server.ts", "");
  folder_.write("dist/server.d.mts", "");
  EXPECT_THAT(of({"node", "dist/server.js"}).watch, ElementsAre("*.ts", "package.json"));
  folder_.write("tsconfig.json", R"json({
    // Where tsc reads.
    "compilerOptions": {"rootDir": "./lib/"}})json");
  EXPECT_THAT(of({"node", "dist/server.js"}).watch,
              ElementsAre("lib", "package.json", "tsconfig.json"));
  for (const char* const root : {"\".\"", "\"./\"", "\"none\"", "\"../x\"", "\"\"", "3"}) {
    folder_.write("tsconfig.json",
                  std::string(R"json({"compilerOptions": {"rootDir": )json") + root + "}}");
    EXPECT_THAT(of({"node", "dist/server.js"}).watch,
                ElementsAre("*.ts", "package.json", "tsconfig.json"))
        << root;
  }
}

TEST_F(SetupGuessTest, AScriptThatIsMissingIsBuiltByTheFirstStart) {
  folder_.write("package.json", R"json({"scripts": {"build": "tsc"}})json");
  EXPECT_EQ(of({"node", "dist/x.js"}).problem,
            "there is no dist/x.js yet; with --build, the first start builds it");
  folder_.write("dist/x.js", "");
  EXPECT_EQ(of({"node", "dist/x.js"}).problem, "");
}

TEST_F(SetupGuessTest, AScriptThatNothingBuildsIsWatchedWithItsFolder) {
  for (const std::string package : {"", R"({"scripts": {"test": "x"}})", "broken"}) {
    if (!package.empty()) folder_.write("package.json", package);
    EXPECT_THAT(of({"node", "server.mjs"}).watch, ElementsAre("*.mjs"));
    EXPECT_EQ(of({"node", "server.mjs"}).build, "");
    EXPECT_EQ(of({"node", "server.mjs"}).from, "the folder of server.mjs");
  }
  EXPECT_THAT(of({"node", "dist/x/server.js"}).watch, ElementsAre("dist"));
  EXPECT_THAT(of({"python3", "./server.py"}).watch, ElementsAre("*.py"));
}

TEST_F(SetupGuessTest, AScriptOutsideOfAnyProjectIsWatchedInItsOwnFolder) {
  EXPECT_THAT(of({"python3", "tools/server.py"}).watch, ElementsAre("tools/**/*.py"));
  EXPECT_THAT(guess({"python3", folder_ / "x/server.py"}, "/", true).watch,
              ElementsAre(folder_ / "x/**/*.py"));
  EXPECT_THAT(guess({"python3", "server.py"}, folder_ / "home", false).watch,
              ElementsAre("./*.py"));
}

TEST_F(SetupGuessTest, AServerInAnotherFolderIsNotGuessed) {
  folder_.write("pyproject.toml", "");
  EXPECT_EQ(of({"uv", "--directory", "/elsewhere", "run", "server.py"}).from, "");
  EXPECT_EQ(of({"uv", "--directory"}).from, "");
  EXPECT_EQ(of({"uv", "run", "--project=/elsewhere", "server.py"}).from, "");
}

TEST_F(SetupGuessTest, AHookOfNodeIsNotTheServer) {
  folder_.write("package.json", R"json({"scripts": {"build": "tsc"}})json");
  EXPECT_THAT(of({"node", "--import", "./hook.js", "src/server.js"}).watch, ElementsAre("src"));
  EXPECT_EQ(of({"node", "--import", "./src/hook.js", "dist/server.js"}).build, "npm run build");
}

TEST_F(SetupGuessTest, APythonFileIsOnlyWatched) {
  folder_.write("pyproject.toml", "");
  const Guess guess = of({"uv", "run", "server.py"});
  EXPECT_EQ(guess.build, "");
  EXPECT_THAT(guess.watch, ElementsAre("*.py"));
}

TEST_F(SetupGuessTest, TheScriptIsFoundBehindOptionsWithValues) {
  for (const Words& words :
       {Words{"uv", "run", "--python", "3.12", "server.py"},
        Words{"uv", "run", "--with", "mcp==1.2.0", "server.py"},
        Words{"uv", "run", "--with-requirements", "needs.txt", "server.py"},
        Words{"python3", "-W", "error::a.B", "server.py"},
        Words{"python3", "-m", "debugpy", "--listen", "127.0.0.1:5678", "server.py", "x.py"}}) {
    EXPECT_EQ(of(words).from, "the folder of server.py") << ::testing::PrintToString(words);
    EXPECT_THAT(of(words).watch, ElementsAre("*.py"));
  }
  EXPECT_EQ(of({"uv", "run", "--python", "3.12", "notes"}).problem,
            "the command names no file of a project");
}

TEST_F(SetupGuessTest, AModuleOfPythonIsItsFileOrFolder) {
  folder_.write("pkg/__main__.py", "");
  folder_.write("pkg/server.py", "");
  folder_.write("src/other/__main__.py", "");
  EXPECT_EQ(of({"python3", "-m", "pkg"}).from, "the folder of pkg/__main__.py");
  EXPECT_THAT(of({"python3", "-m", "pkg"}).watch, ElementsAre("pkg/**/*.py"));
  EXPECT_EQ(of({"python3", "-X", "dev", "-m", "pkg.server"}).from, "the folder of pkg/server.py");
  EXPECT_EQ(of({"uv", "run", "-m", "other"}).from, "the folder of src/other/__main__.py");
  EXPECT_EQ(of({"python3", "-m", "debugpy", "-m", "pkg"}).from, "the folder of pkg/__main__.py");
  EXPECT_EQ(of({"python3", "-m", "missing"}).problem, "the command names no file of a project");
  EXPECT_EQ(of({"python3", "-m"}).from, "");
}

TEST_F(SetupGuessTest, TheScriptIsInTheFolderInWhichItsRunnerStartsIt) {
  folder_.write("sub/pyproject.toml", "");
  folder_.write("sub/server.py", "");
  for (const Words& words : {Words{"uv", "--directory", "sub", "run", "server.py"},
                             Words{"uv", "run", "--directory=" + folder_ / "sub", "server.py"}}) {
    EXPECT_EQ(of(words).from, "pyproject.toml");
    EXPECT_THAT(of(words).watch, ElementsAre("sub/**/*.py"));
  }
}

TEST_F(SetupGuessTest, ADotnetProjectIsFoundByItsEnding) {
  folder_.write("Notes.csproj", "");
  EXPECT_EQ(of({"dotnet", "bin/Debug/net8.0/notes.dll"}).build, "dotnet build");
  EXPECT_EQ(of({"dotnet", "bin/Debug/net8.0/notes.dll"}).from, "Notes.csproj");
}

TEST_F(SetupGuessTest, AScriptThatIsThereIsFoundBehindAnyProgram) {
  folder_.write("go.mod", "");
  folder_.write("tool.ts", "");
  folder_.write("config.json", "");
  EXPECT_THAT(of({"npx", "-y", "tsx", "tool.ts"}).watch, ElementsAre("*.ts"));
  folder_.write("src/server.ts", "");
  EXPECT_THAT(of({"npx", "tsx", "src/server.ts"}).watch, ElementsAre("src"));
  EXPECT_EQ(of({"npx", "-y", "some-tool", "config.json"}).from, "");
}

TEST_F(SetupGuessTest, AScriptIsNotBuiltByGo) {
  folder_.write("go.mod", "");
  folder_.write("main.go", "");
  EXPECT_EQ(of({"./start.sh"}).build, "");
  EXPECT_THAT(of({"./start.sh"}).watch, ElementsAre("*.sh"));
}

TEST_F(SetupGuessTest, WhatBuildsItselfIsOnlyWatched) {
  const auto expect = [&](const Words& words, const std::string& from, const Words& watch) {
    EXPECT_EQ(of(words).from, from) << ::testing::PrintToString(words);
    EXPECT_EQ(of(words).build, "") << ::testing::PrintToString(words);
    EXPECT_EQ(of(words).watch, watch) << ::testing::PrintToString(words);
  };
  EXPECT_EQ(of({"cargo", "run"}).problem, "cargo run needs a Cargo.toml, and there is none");
  folder_.write("go.mod", "");
  folder_.write("cmd/x/main.go", "");
  for (const char* const package : {".", "main.go", "./cmd/x"}) {
    expect({"go", "run", package}, "go.mod", {"*.go"});
  }
  expect({"go", "run", "example.com/x@latest"}, "", {});
  folder_.write("Cargo.toml", "");
  expect({"cargo", "run", "--release"}, "Cargo.toml", {"*.rs", "Cargo.toml"});
  folder_.write("src/main.rs", "");
  expect({"cargo", "run"}, "Cargo.toml", {"src", "Cargo.toml"});
  folder_.write("x.csproj", "");
  expect({"dotnet", "run"}, "x.csproj", {"*.cs"});
  folder_.write("package.json", R"json({"scripts": {"start": "tsc && node dist/x.js"}})json");
  expect({"npm", "start"}, "package.json", {"src", "package.json"});
  expect({"npm", "run", "start"}, "package.json", {"src", "package.json"});
  EXPECT_EQ(guess({"go", "run", "."}, folder_ / "cmd/x", false).watch, Words{folder_ / "**/*.go"});
}

TEST_F(SetupGuessTest, TheStartScriptOfAPackageSaysWhatIsBuilt) {
  folder_.write("src/x.ts", "");
  folder_.write("package.json",
                R"json({"scripts": {"build": "tsc", "start": "node dist/x.js"}})json");
  EXPECT_EQ(of({"npm", "start"}).build, "npm run build");
  EXPECT_THAT(of({"npm", "start"}).watch, ElementsAre("src", "package.json"));
  folder_.write("package.json",
                R"json({"scripts": {"start": "tsx src/x.ts", "b": "npm run b"}})json");
  EXPECT_EQ(of({"npm", "start"}).build, "");
  EXPECT_THAT(of({"npm", "start"}).watch, ElementsAre("src"));
  EXPECT_EQ(of({"npm", "run", "b"}).from, "");
  EXPECT_EQ(of({"npm", "run", "c"}).problem, "package.json has no script c");
}

TEST_F(SetupGuessTest, AnArchiveOfJavaFitsNoBuildFile) {
  EXPECT_EQ(of({"java", "-jar", "target/notes-1.0.jar"}).problem,
            "no build file fits target/notes-1.0.jar");
}

TEST_F(SetupGuessTest, APublishedPackageIsNotBuilt) {
  folder_.write("package.json", R"({"scripts": {"build": "tsc"}})");
  folder_.write("pyproject.toml", "");
  for (const Words& words :
       {Words{"npx", "-y", "some-package"}, Words{"uvx", "server.py"},
        Words{"docker", "run", "./x.js"}, Words{"notes"}, Words{"${HOME}/x.py"}}) {
    EXPECT_EQ(of(words).from, "") << words.front();
    EXPECT_EQ(of(words).problem, "the command names no file of a project") << words.front();
  }
}

TEST_F(SetupGuessTest, TheNearestProjectCounts) {
  folder_.write("Cargo.toml", "");
  folder_.write("tools/package.json", "{}");
  EXPECT_EQ(of({"./tools/target/notes"}).from, "");
  EXPECT_EQ(of({"./tools/target/notes"}).problem, "no build file fits ./tools/target/notes");
}

TEST_F(SetupGuessTest, WhatIsWatchedBelowIsNamedByItsShortPath) {
  folder_.write("sub/go.mod", "");
  folder_.write("sub/main.go", "");
  const Guess guess = of({"./sub/notes"});
  EXPECT_EQ(guess.build_cwd, folder_ / "sub");
  EXPECT_THAT(guess.watch, ElementsAre("sub/**/*.go"));
}

TEST_F(SetupGuessTest, AProjectElsewhereIsNamedByItsWholePath) {
  folder_.write("sub/go.mod", "");
  folder_.write("sub/main.go", "");
  const std::string root = folder_ / "sub";
  const Guess guess = setup::guess({root + "/notes"}, folder_ / "beside", false);
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
