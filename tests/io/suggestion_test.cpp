#include "options/suggestion.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

const std::vector<std::string> kNames = {"--watch", "--watch-binary", "--build", "--http"};

TEST(Suggestion, TakesOneMistakeOfEachKind) {
  // In a word of up to five letters, a second mistake is one too many.
  for (const char* const word : {"wach", "wauch", "wathc"}) {
    EXPECT_EQ(suggestion(word, {"watch"}), "watch") << word;
  }
  EXPECT_EQ(suggestion("liist", {"list"}), "list");
}

TEST(Suggestion, TakesTheNearest) {
  EXPECT_EQ(suggestion("--watch-binari", kNames), "--watch-binary");
  EXPECT_EQ(suggestion("--biuld", kNames), "--build");
}

TEST(Suggestion, TakesMistakesInAThirdOfTheLettersAndNoMore) {
  const std::vector<std::string> names = {"abcdef"};
  EXPECT_EQ(suggestion("abcdxy", names), "abcdef");
  EXPECT_EQ(suggestion("abcxyz", names), std::nullopt);
  EXPECT_EQ(suggestion("", names), std::nullopt);
}

TEST(Suggestion, LeavesALongWordAlone) {
  const std::string name(40, 'a');
  EXPECT_EQ(suggestion(name.substr(1) + "b", {name}), name);
  EXPECT_EQ(suggestion(name + "b", {name}), std::nullopt);
}

}  // namespace
}  // namespace sitter
