#include "demo/story.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

TEST(Story, EachEditFindsItsPlacesAndChangesTheSource) {
  std::string source(story().source);
  int edits = 0;
  for (const Step& step : story().steps) {
    if (step.edit.empty()) continue;
    ++edits;
    std::string before = source;
    for (const Change& change : step.edit) {
      ASSERT_EQ(count_of(source, change.before), 1) << change.before;
      source = edited(source, {change});
    }
    EXPECT_NE(source, before) << step.title;
  }
  EXPECT_EQ(edits, 3);
}

TEST(Story, TheTallyMatchesTheSteps) {
  Tally told{.connections = 1, .servers = 1};
  for (const Step& step : story().steps) {
    told.servers += step.edit.empty() ? 0 : 1;
    told.crashes += step.crashes ? 1 : 0;
  }
  EXPECT_EQ(story().tally, told);
}

TEST(Story, ATallyUsesThePlural) {
  EXPECT_EQ(tally_text({.connections = 1, .servers = 4, .crashes = 1}),
            "1 connection, 4 servers, 1 crash, 0 calls lost");
  EXPECT_EQ(tally_text({.connections = 2, .servers = 1, .crashes = 0, .lost_calls = 1}),
            "2 connections, 1 server, 0 crashes, 1 call lost");
}

TEST(Story, EachTitleFitsOnALineOfANarrowTerminal) {
  for (const Step& step : story().steps) EXPECT_LE(step.title.size(), 60 - 3) << step.title;
}

}  // namespace
}  // namespace sitter
