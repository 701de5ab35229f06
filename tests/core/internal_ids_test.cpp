#include "core/client/internal_ids.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sitter {
namespace {

TEST(InternalIdsTest, NumbersBeginAtARandomPlaceAboveAnyCounter) {
  ClientRequests none;
  InternalIds ids(0);
  EXPECT_EQ(ids.next(none), "1125899906842624");
  EXPECT_EQ(ids.next(none), "1125899906842625");
  InternalIds others(123);
  EXPECT_EQ(others.next(none), "1125899906842747");
}

TEST(InternalIdsTest, EveryNumberIsExactInADouble) {
  ClientRequests none;
  for (const std::uint64_t seed : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 50}) {
    InternalIds ids(seed);
    EXPECT_LT(std::stoull(ids.next(none)), std::uint64_t{1} << 53);
  }
}

TEST(InternalIdsTest, TheyAreOfTheTypeOfTheClients) {
  ClientRequests none;
  InternalIds ids(0);
  ids.be_like("\"a\"");
  EXPECT_EQ(ids.next(none), "\"mcp-sitter-1125899906842624\"");
  ids.be_like("7");
  EXPECT_EQ(ids.next(none), "1125899906842625");
}

TEST(InternalIdsTest, IdsInUseAreSkipped) {
  ClientRequests requests;
  requests.add("1125899906842624");
  requests.add("1125899906842625.0");
  InternalIds ids(0);
  EXPECT_EQ(ids.next(requests), "1125899906842626");
}

}  // namespace
}  // namespace sitter
