#include <gtest/gtest.h>

#include "help/help.hpp"

namespace sitter {
namespace {

TEST(Page, UnderlinesHeadings) {
  EXPECT_EQ(page_text("# A `b`\n\n## C\n\ntext\n"), "A b\n===\n\nC\n-\n\ntext\n");
}

TEST(Page, JoinsAndWrapsTheLinesOfAParagraph) {
  const std::string word(30, 'a');
  EXPECT_EQ(page_text(word + "\n" + word + "\n" + word + "\n"),
            word + " " + word + "\n" + word + "\n");
}

TEST(Page, KeepsCodeAsItIs) {
  const std::string code = "    a  *b* `c` " + std::string(90, 'x') + "\n";
  EXPECT_EQ(page_text("text:\n\n" + code), "text:\n\n" + code);
  EXPECT_EQ(page_text("```sh\n# a *b*\n\n| x\n```\nend\n"), "    # a *b*\n    \n    | x\nend\n");
}

TEST(Page, DropsTheMarksOfEmphasisAndCodeAndTheAddressOfALink) {
  EXPECT_EQ(page_text("**a** *b* `c*[d]` [e f](g.md#h) i\n"), "a b c*[d] e f i\n");
}

TEST(Page, IndentsTheLinesOfAList) {
  const std::string word(50, 'a');
  EXPECT_EQ(page_text("- " + word + "\n  " + word + "\n- b\n10. c\n"),
            "- " + word + "\n  " + word + "\n- b\n10. c\n");
  EXPECT_EQ(page_text("- a\n  b\n\n10. c\n    d\n"), "- a b\n\n10. c d\n");
}

TEST(Page, WritesARowOfATableBelowItsFirstCell) {
  EXPECT_EQ(page_text("x\n\n| what | why |\n|---|---:|\n| `a\\|b` | one two |\n| c | |\n\ny\n"),
            "x\n\na|b\n    one two\nc\n\ny\n");
}

TEST(Page, NamesTheColumnsOfAWideTable) {
  EXPECT_EQ(page_text("| a | b | c |\n|---|---|---|\n| x | y | z |\n"), "x\n    b: y\n    c: z\n");
}

TEST(Page, SaysHowToReadALinkedTopic) {
  EXPECT_EQ(page_text("see [The lint](tools.md) and [x](../x.md)\n"),
            "see The lint (mcp-sitter help tools) and x\n");
}

TEST(Page, EachTopicHasATitleAndFitsTheTerminal) {
  ASSERT_FALSE(topics().empty());
  for (const Topic& topic : topics()) {
    EXPECT_FALSE(topic.title().empty()) << topic.name;
    EXPECT_TRUE(page_text(topic.markdown).starts_with(topic.title().substr(0, 5))) << topic.name;
  }
}

}  // namespace
}  // namespace sitter
