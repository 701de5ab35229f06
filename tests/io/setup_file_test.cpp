#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

#include "setup/changes.hpp"
#include "setup/settings_file.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Optional;

class SetupFileTest : public ::testing::Test {
 protected:
  static mode_t mode_of(const std::string& file) {
    struct stat found {};
    stat(file.c_str(), &found);
    return found.st_mode & 07777;
  }

  static std::string refusal(const std::string& file, const std::string& expected) {
    try {
      replace_file(file, expected, "new");
    } catch (const Failure& failure) {
      return failure.what;
    }
    return "written";
  }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  sitter::testing::TemporaryDirectory folder_;
};

TEST_F(SetupFileTest, AFileKeepsItsMode) {
  const std::string file = folder_.write("a", "old", 0640);
  EXPECT_TRUE(replace_file(file, "old", "new"));
  EXPECT_THAT(read_settings(file), Optional(std::string("new")));
  EXPECT_EQ(mode_of(file), 0640);
  EXPECT_EQ(files(), 1);
}

TEST_F(SetupFileTest, AFileThatHasChangedMeanwhileStays) {
  const std::string file = folder_.write("a", "changed");
  EXPECT_FALSE(replace_file(file, "old", "new"));
  EXPECT_FALSE(replace_file(file, std::nullopt, "new"));
  EXPECT_FALSE(replace_file(folder_ / "b", "old", "new"));
  EXPECT_THAT(read_settings(file), Optional(std::string("changed")));
  EXPECT_EQ(files(), 1);
}

TEST_F(SetupFileTest, AMissingFileIsMadeWithItsFolderForItsOwnerOnly) {
  const std::string file = folder_ / "x/y/a";
  EXPECT_EQ(read_settings(file), std::nullopt);
  EXPECT_TRUE(replace_file(file, std::nullopt, "new"));
  EXPECT_THAT(read_settings(file), Optional(std::string("new")));
  EXPECT_EQ(mode_of(file), 0600);
}

TEST_F(SetupFileTest, ALinkStaysALink) {
  const std::string file = folder_.write("there/a", "old");
  const std::string link = folder_ / "link";
  fs::create_symlink("there/a", link);
  EXPECT_TRUE(replace_file(link, "old", "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(read_settings(file), Optional(std::string("new")));
}

TEST_F(SetupFileTest, ALinkToNothingIsRefused) {
  const std::string link = folder_ / "link";
  fs::create_symlink("gone", link);
  EXPECT_THROW(read_settings(link), Failure);
  EXPECT_FALSE(fs::exists(folder_ / "gone"));
}

TEST_F(SetupFileTest, AReadOnlyFileOrFolderIsRefused) {
  const std::string file = folder_.write("x/a", "old", 0444);
  EXPECT_THAT(refusal(file, "old"), HasSubstr("it is read-only"));
  chmod(file.c_str(), 0644);
  chmod((folder_ / "x").c_str(), 0555);
  EXPECT_THAT(refusal(file, "old"), HasSubstr("/x is read-only"));
  chmod((folder_ / "x").c_str(), 0755);
  EXPECT_THAT(read_settings(file), Optional(std::string("old")));
}

TEST_F(SetupFileTest, ACopyIsReadableByNobodyElse) {
  const std::string file = folder_.write("a", "secret", 0600);
  const SavedCopy copy({"user", file, {"mcpServers"}}, "no/tes é");
  EXPECT_FALSE(copy.is_there());
  copy.keep("secret", false);
  EXPECT_EQ(copy.path(), folder_ / "a.before-mcp-sitter-no%2Ftes%20%C3%A9");
  EXPECT_EQ(mode_of(copy.path()), 0600);
  EXPECT_THAT(copy.text(), Optional(std::string("secret")));
  copy.remove();
  EXPECT_FALSE(copy.is_there());
  EXPECT_EQ(files(), 1);
}

TEST_F(SetupFileTest, RemembersThatThereWasNoFile) {
  const SavedCopy copy({"user", folder_ / "a", {"mcpServers"}}, "notes");
  copy.keep(std::nullopt, false);
  EXPECT_TRUE(copy.is_there());
  EXPECT_EQ(copy.text(), std::nullopt);
  copy.keep("", false);
  EXPECT_THAT(copy.text(), Optional(std::string()));
}

TEST_F(SetupFileTest, NoTwoEntriesShareACopy) {
  const std::string file = folder_ / "a";
  const Place user{"user", file, {}};
  const Place local{"local", file, {}, true, "/one"};
  // A file system may take capital letters for small ones.
  const auto lower = [](std::string name) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
  };
  std::set<std::string> names;
  std::size_t count = 0;
  for (const Place& place : {user, local}) {
    for (const std::string name :
         {"notes", "Notes", "NOTES", "notes.new-server", "notes.no-file", "notes+new-server",
          "notes-in-/one", "notes+in+/one", "notes%2B", "a/b", "a%2Fb"}) {
      const SavedCopy copy(place, name);
      copy.keep("x", false);
      names.insert(lower(copy.path()));
      copy.keep("x", true);
      names.insert(lower(copy.path()));
      count += 2;
      EXPECT_EQ(copy.path().rfind(folder_ / "a.before-mcp-sitter-", 0), 0);
    }
  }
  EXPECT_EQ(names.size(), count);
  EXPECT_EQ(files(), count / 2);
}

TEST_F(SetupFileTest, ProjectsInOneFileHaveCopiesOfTheirOwn) {
  const std::string file = folder_ / "a";
  const SavedCopy one({"local", file, {}, true, "/one"}, "notes");
  const SavedCopy other({"local", file, {}, true, "/other"}, "notes");
  const SavedCopy user({"user", file, {}}, "notes");
  EXPECT_NE(one.path(), other.path());
  EXPECT_NE(one.path(), user.path());
  // Two long names that differ only at their end.
  const std::string deep(300, 'x');
  const SavedCopy deep_one({"local", file, {}, true, deep + "1"}, "notes");
  const SavedCopy deep_other({"local", file, {}, true, deep + "2"}, "notes");
  EXPECT_NE(deep_one.path(), deep_other.path());
  EXPECT_LT(fs::path(deep_one.path()).filename().native().size(), 256);
  deep_one.keep("x", false);
  EXPECT_TRUE(deep_one.is_there());
}

}  // namespace
}  // namespace sitter::setup
