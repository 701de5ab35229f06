#include "io/process/runners.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "process_support.hpp"

namespace sitter {
namespace {

using testing::TemporaryDirectory;

class ScriptOfTest : public ::testing::Test {
 protected:
  std::string script(const std::vector<std::string>& arguments) {
    return script_of(arguments, dir_.path()).value_or("none");
  }

  TemporaryDirectory dir_;
};

TEST_F(ScriptOfTest, IsTheFirstArgumentThatNamesAFile) {
  dir_.write("server.js", "");
  dir_.write("data.js", "");
  EXPECT_EQ(script({"--inspect", "server.js", "data.js"}), dir_ / "server.js");
  EXPECT_EQ(script({"run", "-A", "./server.js"}), dir_ / "server.js");
  EXPECT_EQ(script({dir_ / "server.js"}), dir_ / "server.js");
  EXPECT_EQ(script({"-e", "1 + 1"}), "none");
  EXPECT_EQ(script({}), "none");
}

TEST_F(ScriptOfTest, PassesOverFilesThatHoldNoProgram) {
  dir_.write("server.ts", "");
  dir_.write(".env", "");
  dir_.write(".env.local", "");
  dir_.write("app.csproj", "");
  dir_.write("hook.cjs", "");
  EXPECT_EQ(script({"--env-file", ".env", "--env-file", ".env.local", "server.ts"}),
            dir_ / "server.ts");
  EXPECT_EQ(script({"-r", "./hook.cjs", "--import", "./hook.cjs", "server.ts"}),
            dir_ / "server.ts");
  EXPECT_EQ(script({"run", "--project", "app.csproj"}), "none");
}

TEST_F(ScriptOfTest, FindsAPythonModule) {
  dir_.write("app/__main__.py", "");
  dir_.write("single.py", "");
  dir_.write("src/pkg/server/__main__.py", "");
  dir_.write("argument.py", "");
  EXPECT_EQ(script({"-u", "-m", "app"}), dir_ / "app/__main__.py");
  EXPECT_EQ(script({"-m", "single"}), dir_ / "single.py");
  EXPECT_EQ(script({"-m", "pkg.server"}), dir_ / "src/pkg/server/__main__.py");
  EXPECT_EQ(script({"-m", "installed", "argument.py"}), "none");
}

TEST_F(ScriptOfTest, FollowsWhatInterpretersAddToAName) {
  dir_.write("dist/server.js", "");
  dir_.write("web/index.js", "");
  dir_.write("tool/__main__.py", "");
  EXPECT_EQ(script({"dist/server"}), dir_ / "dist/server.js");
  EXPECT_EQ(script({"web"}), dir_ / "web/index.js");
  EXPECT_EQ(script({"tool"}), dir_ / "tool/__main__.py");
}

TEST_F(ScriptOfTest, WordsBehindCodeAreItsArguments) {
  dir_.write("input", "");
  for (const std::string option : {"-c", "-lc", "-e", "--eval"}) {
    EXPECT_EQ(script({option, "cat \"$1\"", "sh", "input"}), "none") << option;
  }
  EXPECT_EQ(script({"-e", "input"}), dir_ / "input");
  dir_.write("own.ini", "");
  EXPECT_EQ(script({"-c", "own.ini", "input"}), dir_ / "input");
}

TEST_F(ScriptOfTest, FollowsTheDirectoryThatUvChangesTo) {
  dir_.write("project/weather.py", "");
  EXPECT_EQ(script({"--directory", dir_ / "project", "run", "weather.py"}),
            dir_ / "project/weather.py");
}

/// A file that a build makes may be missing.
class MissingScriptTest : public ScriptOfTest {
 protected:
  std::string missing(const std::vector<std::string>& arguments,
                      const std::string& program = "node") {
    return missing_script(program, arguments, dir_.path()).value_or("none");
  }
};

TEST_F(MissingScriptTest, IsTheFirstWordThatLooksLikeAProgram) {
  EXPECT_EQ(missing({"dist/server.js"}), dir_ / "dist/server.js");
  EXPECT_EQ(missing({"--inspect", "server.js", "other.js"}), dir_ / "server.js");
  EXPECT_EQ(missing({"dist/server"}), dir_ / "dist/server");
  EXPECT_EQ(missing({"--env-file", "conf/dev.env", "dist/server.js"}), dir_ / "dist/server.js");
  EXPECT_EQ(missing({"run", "src/server.ts"}, "uv"), dir_ / "src/server.ts");
}

TEST_F(MissingScriptTest, IsNoneIfAWordNamesAFileOrNothingLooksLikeOne) {
  dir_.write("server.js", "");
  dir_.write("out/a", "");
  EXPECT_EQ(missing({"--conditions", "a/b", "server.js"}), "none");
  EXPECT_EQ(missing({"run", "build"}), "none");
  EXPECT_EQ(missing({"out"}), "none");
  EXPECT_EQ(missing({"run", "https://example.org/server.ts"}), "none");
  EXPECT_EQ(missing({"-m", "server", "conf/app"}), "none");
  EXPECT_EQ(missing({"-c", "cat dist/a.js", "dist/a.js"}), "none");
  EXPECT_EQ(missing({"-y", "@scope/server"}, "npx"), "none");
  EXPECT_EQ(missing({"run", "org/image.py"}, "docker"), "none");
}

TEST_F(MissingScriptTest, IsAPathOfTheProjectAlsoBehindWrappers) {
  std::filesystem::create_directories(dir_ / "sub/dir");
  for (const auto& [command, file] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"env", "X=1", "./build/app"}, "build/app"},
           {{"env", "X=1", "timeout", "20", "build/app"}, "build/app"},
           {{"env", dir_ / "build/app", "data/new"}, "build/app"},
           {{"timeout", "20", "./build/app", "--data", "data/new"}, "build/app"},
           {{"stdbuf", "-oL", "./build/app"}, "build/app"},
           {{"nice", "-n", "5", "./build/app"}, "build/app"},
           {{"uv", "run", "gen/server"}, "gen/server"},
           {{"uv", "run", "--", "gen/server"}, "gen/server"},
           {{"uv", "--directory", "sub/dir", "run", "gen/server"}, "sub/dir/gen/server"},
           {{"uv", "run", "node", "dist/server"}, "dist/server"},
           {{"node", "--conditions", "a/b", "dist/server.js"}, "dist/server.js"},
           {{"java", "-cp", "target/app.jar", "com.x.Main"}, "target/app.jar"},
           {{"ruby", "-C", "sub/dir", "app.rb"}, "sub/dir/app.rb"}}) {
    EXPECT_EQ(missing({command.begin() + 1, command.end()}, command.front()), dir_ / file)
        << ::testing::PrintToString(command);
  }
}

TEST_F(MissingScriptTest, IsNoWordThatIsSomethingElse) {
  dir_.write("sub/dir/app.rb", "");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"java", "-cp", "target/classes:lib/x.jar", "com.x.Main"},
           {"java", "-cp", "target/*", "com.x.Main"},
           {"java", "-cp", "target/classes", "com.x.Main", "data/new"},
           {"java", "-Dx=a/b", "@conf/args"},
           {"deno", "run", "-A", "npm:@scope/pkg/sub"},
           {"deno", "run", "-A", "jsr:@std/http/file-server"},
           {"node", "-p", "a/b"},
           {"node", "--eval", "import('./a/b.js')"},
           {"perl", "-ne", "print if a/b"},
           {"perl", "-ne", "a/b"},
           {"ruby", "-C", "missing/dir", "app.rb"},
           {"ruby", "-C", "sub/dir", "app.rb"},
           {"ruby", "-I", "lib/missing", "-e", "1/2"},
           {"php", "-d", "x=a/b", "-r", "1/2;"},
           {"python3", "-c", "a/b"},
           {"env", "X=1", "python3", "-c", "a/b"},
           {"env", "X=a/b", "server", "data/new"},
           {"timeout", "20", "server", "data/new"},
           {"timeout", "20", "/opt/missing/app"},
           {"npx", "-y", "owner/package"},
           {"env", "X=1", "npx", "-y", "owner/package"},
           {"uvx", "--from", "git+https://x/y", "z"},
           {"dotnet", "run", "--project", "src/missing"}}) {
    EXPECT_EQ(missing({command.begin() + 1, command.end()}, command.front()), "none")
        << ::testing::PrintToString(command);
  }
}

TEST_F(MissingScriptTest, SourcesThatRunOnlyAfterABuildAreKnownByTheirEndings) {
  dir_.write("app",
             "\x7f"
             "ELF");
  dir_.write("launch", "#!/bin/sh\nexec ./app\n");
  dir_.write("tool", "#!/usr/bin/env python3\n");
  using Words = std::vector<std::string>;
  const auto takes = [this](const std::string& command, const Words& arguments,
                            const char* ending) {
    const Words endings = built_endings(command, arguments, dir_.path());
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  for (const auto& [command, arguments] :
       std::vector<std::pair<std::string, Words>>{{"./app", {}},
                                                  {"app", {}},
                                                  {"env", {"A=1", "./app"}},
                                                  {"./launch", {}},
                                                  {"sh", {"launch"}},
                                                  {"sh", {"-c", "./app"}},
                                                  {"java", {"-jar", "app.jar"}}}) {
    EXPECT_TRUE(takes(command, arguments, ".cpp")) << command;
    EXPECT_FALSE(takes(command, arguments, ".json")) << command;
  }
  EXPECT_TRUE(takes("node", {"dist/server.js"}, ".ts"));
  EXPECT_FALSE(takes("node", {"dist/server.js"}, ".js"));
  for (const auto& [command, arguments] :
       std::vector<std::pair<std::string, Words>>{{"python3", {"server.py"}},
                                                  {"./tool", {}},
                                                  {"go", {"run", "."}},
                                                  {"npm", {"start"}},
                                                  {"tsx", {"server.ts"}},
                                                  {"docker", {"run", "app"}}}) {
    EXPECT_EQ(built_endings(command, arguments, dir_.path()), Words()) << command;
  }
}

TEST_F(MissingScriptTest, SourceThatRunsWithoutABuildIsTold) {
  const auto runs = [this](const std::string& command, const std::vector<std::string>& arguments) {
    return runs_source(command, arguments, dir_.path());
  };
  dir_.write("server",
             "\x7f"
             "ELF");
  dir_.write("run", "#!/usr/bin/env python3\n");
  for (const auto& [command, arguments] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"python3", {"server.py"}},
           {"uv", {"run", "server.py"}},
           {"go", {"run", "."}},
           {"./run", {}},
           {"env", {"A=1", "run"}},
           {"node", {"dist/server.js"}}}) {
    EXPECT_TRUE(runs(command, arguments)) << command;
  }
  for (const auto& [command, arguments] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"./server", {}},
           {"server", {}},
           {"env", {"A=1", "./server"}},
           {"sh", {"-c", "./server"}},
           {"java", {"-jar", "server.jar"}},
           {"docker", {"run", "x"}},
           {"./missing", {}}}) {
    EXPECT_FALSE(runs(command, arguments)) << command;
  }
}

TEST(RunnerKind, IsToldByTheName) {
  EXPECT_EQ(runner_kind("/usr/bin/python3.11"), Runner::interpreter);
  EXPECT_EQ(runner_kind("/usr/lib/node_modules/npm/bin/npx-cli.js"), Runner::wrapper);
  EXPECT_EQ(runner_kind("cargo"), Runner::wrapper);
  EXPECT_EQ(runner_kind("docker"), Runner::remote);
  EXPECT_EQ(runner_kind("/srv/build/server"), Runner::none);
  EXPECT_EQ(runner_kind("./go2rtc"), Runner::none);
  for (const char* name : {"python3.13t", "python3.13td", "python3.7m", "qemu-x86_64",
                           "qemu-aarch64-static", "beam.smp", "R", "dart"}) {
    EXPECT_EQ(runner_kind(std::string("/home/user/bin/") + name), Runner::interpreter) << name;
  }
}

TEST(RestartsItselfTest, ShowsInAnOptionOrInAProgramOfTheCommandLine) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"node", "--watch", "server.js"},
           {"node", "--watch-path=./src", "server.js"},
           {"npx", "nodemon", "server.js"},
           {"node", "/usr/lib/node_modules/nodemon/bin/nodemon.js", "server.js"},
           {"tsx", "watch", "server.ts"},
           {"dotnet", "watch", "run"},
           {"uvicorn", "server:app", "--reload"},
           {"bun", "--hot", "server.ts"},
           {"python3", "-m", "watchfiles", "server.main"}}) {
    EXPECT_TRUE(restarts_itself(words)) << words.back();
  }
}

TEST(RestartsItselfTest, IsNotSaidOfNamesThatOnlyLookLikeIt) {
  EXPECT_FALSE(restarts_itself({"node", "watch/server.js", "--watcher", "--no-reload"}));
  EXPECT_FALSE(restarts_itself({}));
}

}  // namespace
}  // namespace sitter
