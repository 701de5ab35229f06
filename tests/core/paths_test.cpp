#include "core/base/paths.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace sitter {
namespace {

constexpr PathStyle kPosix = PathStyle::posix;
constexpr PathStyle kWindows = PathStyle::windows;

TEST(Paths, OnPosixASlashIsTheOnlyRoot) {
  EXPECT_EQ(root_of("/a/b", kPosix), "");
  EXPECT_EQ(root_of("//a/b/c", kPosix), "");
  EXPECT_EQ(root_of("a/b", kPosix), std::nullopt);
  EXPECT_EQ(root_of("C:/a", kPosix), std::nullopt);
  EXPECT_EQ(root_of("", kPosix), std::nullopt);
}

TEST(Paths, OnWindowsADriveOrAShareIsARoot) {
  EXPECT_EQ(root_of("C:/a/b", kWindows), "C:");
  EXPECT_EQ(root_of("d:/", kWindows), "d:");
  EXPECT_EQ(root_of("d:", kWindows), "d:");
  EXPECT_EQ(root_of("//host/share/a/b", kWindows), "//host/share");
  EXPECT_EQ(root_of("//host/share", kWindows), "//host/share");
  EXPECT_EQ(root_of("//host", kWindows), "//host");
}

TEST(Paths, APathWithoutADriveIsRelativeOnWindows) {
  for (const char* const path : {"a/b", "/a/b", "C:a", "1:/a", ":/a", "C", ""}) {
    EXPECT_EQ(root_of(path, kWindows), std::nullopt) << path;
  }
}

TEST(Paths, AFolderIsAboveWhatIsInIt) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "");
  EXPECT_EQ(parent_of("C:/a"), "C:");
  EXPECT_EQ(parent_of("C:"), "");
  EXPECT_EQ(parent_of("//host/share/a"), "//host/share");
  EXPECT_EQ(parent_of("//host/share"), "");
  EXPECT_EQ(parent_of(""), "");
}

TEST(Paths, OnlyPosixMindsTheCase) {
  EXPECT_FALSE(is_same_path("/A", "/a", kPosix));
  EXPECT_TRUE(is_same_path("C:/Src/A.c", "c:/sRC/a.C", kWindows));
  EXPECT_FALSE(is_same_path("C:/a", "C:/ab", kWindows));
  EXPECT_TRUE(is_at_or_below("C:/P/x", "c:/p", kWindows));
  EXPECT_TRUE(is_at_or_below("C:/P", "c:/p", kWindows));
  EXPECT_FALSE(is_at_or_below("C:/Px", "c:/p", kWindows));
  EXPECT_FALSE(is_at_or_below("/P/x", "/p", kPosix));
  EXPECT_TRUE(is_at_or_below("/p/x", "/p", kPosix));
  EXPECT_TRUE(is_at_or_below("/p", ""));
  EXPECT_TRUE(is_at_or_below("C:/p", "", kWindows));
}

TEST(Paths, EqualPathsAreOneInAnOrder) {
  const auto before = [](PathStyle style) {
    return
        [style](const std::string& a, const std::string& b) { return comes_before(a, b, style); };
  };
  const auto posix = before(kPosix);
  EXPECT_EQ((std::set<std::string, decltype(posix)>({"/a", "/A", "/b"}, posix).size()), 3U);
  const auto windows = before(kWindows);
  std::set<std::string, decltype(windows)> paths({"C:/p", "c:/P", "C:/P/x", "C:/p0"}, windows);
  EXPECT_EQ(paths.size(), 3U);
  erase_at_or_below(paths, "c:/p");
  EXPECT_EQ(paths.size(), 1U);
}

}  // namespace
}  // namespace sitter
