#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "setup_guess_script.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SetupGuessTest, AProgramOfCMakeIsBuiltInItsBuildFolder) {
  folder_.write("CMakePresets.json", "{}");
  EXPECT_EQ(of({"./build/dev/bin/notes"}).from, "");
  folder_.write("build/dev/CMakeCache.txt", "");
  EXPECT_EQ(of({"./build/dev/bin/notes"}).build, "cmake --build build/dev");
}

TEST_F(SetupGuessTest, ABuildOfCMakeHasToBeConfiguredFirst) {
  folder_.write("CMakeLists.txt", "");
  EXPECT_EQ(of({"./build/bin/notes"}).problem,
            "CMake has not configured the build yet; configure it first (cmake -B build), then "
            "undo this setup and repeat it");
  folder_.write("CMakePresets.json", "{}");
  EXPECT_THAT(of({"./build/bin/notes"}).problem, HasSubstr("(cmake --preset NAME)"));
  EXPECT_EQ(of({"./notes"}).problem, "no build file fits ./notes");
  folder_.write("bin/notes", "");
  EXPECT_EQ(of({"./bin/notes"}).problem, "no build file fits ./bin/notes");
}

/// What CMake would answer about `notes`, which needs a library, and about another program.
class SetupGuessCMakeTest : public SetupGuessTest {
 protected:
  SetupGuessCMakeTest() {
    folder_.write("CMakeLists.txt", "");
    folder_.write("build/CMakeCache.txt", "");
    write("index-1", R"({"objects": [{"kind": "codemodel", "jsonFile": "old.json"}]})");
    write("index-2", R"({"objects": [{"kind": "cache", "jsonFile": "old.json"},
                                     {"kind": "codemodel", "jsonFile": "model.json"}]})");
    write("old", "{}");
    write("model",
          R"({"paths": {"source": ")" + folder_.path() + R"("}, "configurations": [{"targets":
        [{"id": "n", "jsonFile": "n.json"}, {"id": "l", "jsonFile": "l.json"},
         {"id": "o", "jsonFile": "o.json"}]}]})");
    write("n", target("bin/notes", "main/main.cpp", "l", folder_ / "include"));
    write("l", target("lib.a", "src/deep/a/a.cpp\"}, {\"path\": \"src/deep/b/c/b.cpp", "n",
                      "/usr/include"));
    write("o", target("bin/other", "main.cpp\"}, {\"path\": \"build/made/m.cpp", "missing",
                      folder_ / "build/include"));
  }

  void write(const std::string& name, const std::string& text) const {
    folder_.write("build/replies/" + name + ".json", text);
  }
  /// CMake has answered before.
  void take_replies() const {
    fs::create_directories(folder_ / "build/.cmake/api/v1");
    fs::rename(folder_ / "build/replies", folder_ / "build/.cmake/api/v1/reply");
  }
  static std::string target(const std::string& artifact, const std::string& source,
                            const std::string& needed, const std::string& include) {
    return R"({"artifacts": [{"path": ")" + artifact + R"("}], "sources": [{"path": ")" + source +
           R"("}], "dependencies": [{"id": ")" + needed +
           R"("}], "compileGroups": [{"includes": [{"path": ")" + include + R"("}]}]})";
  }
};

TEST_F(SetupGuessCMakeTest, CMakeIsAskedForTheSourcesOfTheServer) {
  tools_.write_script("cmake",
                      "[ -e .cmake/api/v1/query/client-mcp-sitter/codemodel-v2 ] &&"
                      " exec /bin/cp -R replies .cmake/api/v1/reply");
  const Guess guess = of({"./build/bin/notes"});
  EXPECT_EQ(guess.from, "CMakeLists.txt and the file API of CMake");
  EXPECT_EQ(guess.build, "cmake --build build");
  EXPECT_THAT(guess.watch, ElementsAre("include", "main", "src/deep", "CMakeLists.txt"));
  EXPECT_EQ(guess.problem, "");
}

TEST_F(SetupGuessCMakeTest, AnAnswerThatIsThereIsTaken) {
  take_replies();
  folder_.write("main.cpp", "");
  folder_.write("main.h", "");
  EXPECT_THAT(of({"./build/bin/other"}).watch, ElementsAre("*.cpp", "*.h", "CMakeLists.txt"));
}

TEST_F(SetupGuessCMakeTest, AnAnswerThatIsNestedTooDeeplyIsNone) {
  write("n", R"({"artifacts": [{"path": "bin/notes"}], "x": )" + deep_ + "}");
  write("l", target("bin/notes", "src/a.cpp", "n", "/usr/include"));
  take_replies();
  EXPECT_THAT(of({"./build/bin/notes"}).watch, ElementsAre("src", "CMakeLists.txt"));
}

TEST_F(SetupGuessCMakeTest, AnswersAreReadWithinBounds) {
  take_replies();
  const auto problem = [&](std::chrono::milliseconds time) {
    return guess({"./build/bin/notes"}, folder_.path(), false, {.time = time}).problem;
  };
  EXPECT_THAT(problem({}), HasSubstr("cmake says too much"));
  std::string targets;
  for (int i = 0; i < 10; ++i) {
    targets += "{\"id\": \"" + std::to_string(i) + "\", \"jsonFile\": \"big.json\"},";
  }
  folder_.write("build/.cmake/api/v1/reply/model.json",
                R"({"configurations": [{"targets": [)" + targets + "{}]}]}");
  folder_.write("build/.cmake/api/v1/reply/big.json", std::string(std::size_t{16} << 20, '['));
  EXPECT_THAT(problem(std::chrono::minutes(1)), HasSubstr("cmake says too much"));
}

TEST_F(SetupGuessCMakeTest, ADryRunAsksOnlyWhatIsThere) {
  tools_.write_script("cmake", "exec /bin/cp -R replies .cmake/api/v1/reply");
  const auto dry = [&] {
    return guess({"./build/bin/notes"}, folder_.path(), false, {.is_dry_run = true});
  };
  EXPECT_THAT(dry().problem, HasSubstr("only without --dry-run"));
  EXPECT_FALSE(fs::exists(folder_ / "build/.cmake"));
  take_replies();
  EXPECT_EQ(dry().problem, "");
}

TEST_F(SetupGuessCMakeTest, WithoutAnAnswerTheUsualNamesAreWatched) {
  folder_.write("src/a.cpp", "");
  folder_.write("main.cc", "");
  for (const bool has_cmake : {false, true}) {
    if (has_cmake) tools_.write_script("cmake", "exit 1");
    const Guess guess = of({"./build/bin/notes"});
    EXPECT_THAT(guess.watch, ElementsAre("src", "*.cc", "CMakeLists.txt"));
    EXPECT_THAT(guess.problem, HasSubstr("the names of files decided"));
  }
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
  folder_.write("notes.c", "");
  folder_.write("notes.h", "");
  EXPECT_THAT(of({"./notes"}).watch, ElementsAre("src", "*.c", "*.h", "Makefile"));
  EXPECT_THAT(of({"./notes.sh"}).watch, ElementsAre("*.sh"));
}

TEST_F(SetupGuessTest, MakeCompilesFromAnyFolderThatToolsHaveNotMade) {
  folder_.write("makefile", "");
  EXPECT_THAT(of({"./notes"}).problem, HasSubstr("no C or C++ sources"));
  for (const char* const source :
       {"core/deep/main.cpp", "src/a.cc", "build/made.c", "node_modules/x/y.cxx", "left/out.hpp"}) {
    folder_.write(source, "");
  }
  folder_.write(".gitignore", "left\n");
  folder_.write("build/CMakeCache.txt", "");
  const Guess guess = of({"./notes"});
  EXPECT_EQ(guess.from, "makefile");
  EXPECT_EQ(guess.build, "make");
  EXPECT_THAT(guess.watch, ElementsAre("src", "*.cpp", "*.h", "makefile"));
  EXPECT_EQ(guess.problem, "");
}

}  // namespace
}  // namespace sitter::setup
