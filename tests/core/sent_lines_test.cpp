#include "core/client/sent_lines.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

TEST(SentLinesTest, ALineIsFoundByTheOrderOfItsRequest) {
  SentLines lines;
  lines.keep(3, "three");
  lines.keep(5, "five");
  EXPECT_EQ(lines.find(3), "three");
  EXPECT_EQ(lines.find(5), "five");
  EXPECT_EQ(lines.find(4), "");
  EXPECT_EQ(lines.find(0), "");
}

TEST(SentLinesTest, TheOldestLineMakesWay) {
  SentLines lines;
  for (std::uint64_t order = 0; order <= limits::kSentLinesMax; ++order) lines.keep(order, "x");
  EXPECT_EQ(lines.find(0), "");
  EXPECT_EQ(lines.find(1), "x");
  EXPECT_EQ(lines.find(limits::kSentLinesMax), "x");
}

TEST(SentLinesTest, ALongLineIsNotKept) {
  SentLines lines;
  lines.keep(1, std::string(limits::kSentLineMax, 'x'));
  lines.keep(2, std::string(limits::kSentLineMax + 1, 'x'));
  EXPECT_EQ(lines.find(1).size(), limits::kSentLineMax);
  EXPECT_EQ(lines.find(2), "");
}

}  // namespace
}  // namespace sitter
