#include "core/rebuild/made_folders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Whether tools have made the folder if there are only these files.
bool is_made(const std::string& folder, const std::set<std::string>& files) {
  return is_made_by_tools(folder, [&](const std::string& place, std::string_view name) {
    if (name.starts_with('*'))
      return files.contains(place + "/Notes" + std::string(name.substr(1)));
    return files.contains(place + '/' + std::string(name));
  });
}

constexpr const char* kOutputs[] = {"build", "dist", "target", "obj", "bin/Debug", "bin/Release"};
constexpr const char* kBuildFiles[] = {
    "CMakeLists.txt", "Makefile",    "Cargo.toml",   "package.json",     "pyproject.toml",
    "setup.py",       "pom.xml",     "build.gradle", "build.gradle.kts", "Notes.csproj",
    "makefile",       "GNUmakefile", "Notes.fsproj"};
constexpr const char* kMarks[] = {"CMakeCache.txt", ".ninja_log", "CACHEDIR.TAG",
                                  ".rustc_info.json"};

TEST(MadeFolders, ANameAloneShowsNothing) {
  for (const std::string output : kOutputs) {
    EXPECT_FALSE(is_made("/p/src/" + output, {"/p/Makefile", "/p/src/" + output + "/a.c"}));
  }
}

TEST(MadeFolders, ABuildFileBesideTheFolderCounts) {
  for (const std::string output : kOutputs) {
    for (const std::string file : kBuildFiles) {
      EXPECT_TRUE(is_made("/p/" + output, {"/p/" + file})) << output << ' ' << file;
      EXPECT_FALSE(is_made("/p/" + output, {"/p/" + output + '/' + file})) << output << ' ' << file;
    }
  }
}

TEST(MadeFolders, AMarkInTheFolderCounts) {
  for (const std::string output : kOutputs) {
    for (const std::string mark : kMarks) {
      EXPECT_TRUE(is_made("/p/" + output, {"/p/" + output + '/' + mark})) << output << ' ' << mark;
    }
  }
}

TEST(MadeFolders, AFolderOfAnyOtherNameIsNone) {
  for (const std::string folder : {"/p/src", "/p/rebuild", "/p/Debug", "/p/x/Debug", "/p"}) {
    EXPECT_FALSE(is_made(folder, {"/p/Makefile", folder + "/CMakeCache.txt"})) << folder;
  }
  EXPECT_TRUE(is_made("/build", {"/Makefile"}));
}

TEST(MadeFolders, AVirtualEnvironmentIsOneWhateverItsName) {
  EXPECT_TRUE(is_made("/p/env", {"/p/env/pyvenv.cfg"}));
  EXPECT_FALSE(is_made("/p/env", {"/p/pyvenv.cfg"}));
}

TEST(MadeFolders, EachFileDecidesAboutTheFoldersForWhichItCounts) {
  for (const std::string mark : kMarks) {
    EXPECT_THAT(folders_decided_by("/p/build/" + mark), ElementsAre("/p/build"));
  }
  EXPECT_THAT(folders_decided_by("/p/env/pyvenv.cfg"), ElementsAre("/p/env"));
  for (const std::string file : kBuildFiles) {
    EXPECT_THAT(folders_decided_by("/p/" + file),
                ElementsAre("/p/build", "/p/dist", "/p/target", "/p/obj", "/p/bin/Debug",
                            "/p/bin/Release"));
  }
  EXPECT_THAT(folders_decided_by("/p/a.c"), IsEmpty());
}

}  // namespace
}  // namespace sitter
