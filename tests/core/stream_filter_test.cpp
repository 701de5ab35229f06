#include "core/streams/stream_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;

StreamFilter filter(std::string_view raw) { return StreamFilter::of(raw).value(); }

TEST(StreamFilterTest, ReadsWhatIsAskedFor) {
  const auto asked = filter(R"json({"toolsListChanged":true,"promptsListChanged":false,)json"
                            R"json("resourceSubscriptions":["a:/b",7]})json");
  EXPECT_TRUE(asked.has(CatalogKind::tools));
  EXPECT_FALSE(asked.has(CatalogKind::prompts));
  EXPECT_FALSE(asked.has(CatalogKind::resources));
  EXPECT_THAT(asked.uris, ElementsAre("\"a:/b\""));
  EXPECT_EQ(asked.text(), R"json({"toolsListChanged":true,"resourceSubscriptions":["a:/b"]})json");
}

TEST(StreamFilterTest, KeepsWhatItDoesNotKnow) {
  const auto asked = filter(R"json({"taskIds":["t"],"toolsListChanged":true})json");
  EXPECT_EQ(asked.text(), R"json({"toolsListChanged":true,"taskIds":["t"]})json");
}

TEST(StreamFilterTest, AnythingButAnObjectIsNone) {
  EXPECT_FALSE(StreamFilter::of(""));
  EXPECT_FALSE(StreamFilter::of("[]"));
  EXPECT_EQ(filter("{}").text(), "{}");
}

TEST(StreamFilterTest, CoversWhatItHasAll) {
  const auto all = filter(
      R"json({"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a","b"]})json");
  EXPECT_TRUE(all.covers(filter("{}")));
  EXPECT_TRUE(all.covers(
      filter(R"json({"toolsListChanged":true,"resourceSubscriptions":["\u0062"]})json")));
  EXPECT_FALSE(all.covers(filter(R"json({"resourcesListChanged":true})json")));
  EXPECT_FALSE(all.covers(filter(R"json({"resourceSubscriptions":["c"]})json")));
}

}  // namespace
}  // namespace sitter
