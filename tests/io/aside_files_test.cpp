#include "io/files/aside_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TemporaryDirectory;
using ::testing::UnorderedElementsAre;

class AsideFilesTest : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      all.push_back(entry.path().filename().string());
    }
    return all;
  }
  std::string write(const std::string& name, const std::string& text = "old") const {
    return folder_.write(name, text);
  }

  TemporaryDirectory folder_;
  AsideFiles files_;
};

TEST_F(AsideFilesTest, WhatTheBuildMakesTakesThePlaceOfTheOldFile) {
  const std::string server = write("server");
  EXPECT_THAT(files_.put_aside({server}), IsEmpty());
  EXPECT_THAT(names(), ElementsAre("server.sitter-old-1"));
  write("server", "new");
  files_.put_back();
  EXPECT_THAT(names(), UnorderedElementsAre("server", "server.sitter-old-1"));
  files_.clean();
  EXPECT_THAT(names(), ElementsAre("server"));
}

TEST_F(AsideFilesTest, WhatTheBuildDoesNotMakeGetsItsNameBack) {
  const std::string server = write("server");
  const std::string library = write("library");
  files_.put_aside({server, library});
  write("server", "new");
  files_.put_back();
  EXPECT_THAT(names(), UnorderedElementsAre("server", "server.sitter-old-1", "library"));
}

TEST_F(AsideFilesTest, LeftFilesAreDeletedOrCountedOn) {
  const std::string server = write("server");
  write("server.sitter-old-1");
  // A folder with an entry stands for a file that is still in use.
  write("server.sitter-old-4/entry");
  write("server.sitter-old-x");
  files_.put_aside({server});
  EXPECT_THAT(names(), UnorderedElementsAre("server.sitter-old-4", "server.sitter-old-5",
                                            "server.sitter-old-x"));
}

TEST_F(AsideFilesTest, AFileThatCannotBeRenamedIsTold) {
  // There is no room for the ending.
  EXPECT_THAT(files_.put_aside({write(std::string(250, 's'))}),
              ElementsAre(AllOf(HasSubstr("s is in use, and can't be renamed"),
                                Not(HasSubstr("Input/output error")))));
  EXPECT_THAT(files_.put_aside({folder_.path() + "/missing"}), IsEmpty());
}

TEST_F(AsideFilesTest, AfterABuildThatWasCutOffTheNewestComesBack) {
  const std::string server = folder_.path() + "/server";
  write("server.sitter-old-2", "newest");
  write("server.sitter-old-1", "older");
  EXPECT_TRUE(AsideFiles::restore(server, {}));
  EXPECT_THAT(names(), UnorderedElementsAre("server", "server.sitter-old-1"));
  EXPECT_FALSE(AsideFiles::restore(server, {}));
  EXPECT_THAT(names(), UnorderedElementsAre("server", "server.sitter-old-1"));
}

TEST_F(AsideFilesTest, ANameMayLackItsEnding) {
  const std::string server = folder_.path() + "/server";
  write("server/of another name");
  write("server.exe.sitter-old-1");
  EXPECT_FALSE(AsideFiles::restore(server, {".com"}));
  EXPECT_TRUE(AsideFiles::restore(server, {".com", ".exe"}));
  EXPECT_THAT(names(), UnorderedElementsAre("server", "server.exe"));
  write("server.exe.sitter-old-1");
  EXPECT_FALSE(AsideFiles::restore(server, {".com", ".exe"}));
}

}  // namespace
}  // namespace sitter
