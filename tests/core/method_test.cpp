#include "core/wire/method.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(MethodTest, EveryMethodHasOneName) {
  for (int number = 1; number <= static_cast<int>(Method::subscriptions_acknowledged); ++number) {
    const Method method = static_cast<Method>(number);
    EXPECT_NE(method_name(method), "") << number;
    EXPECT_EQ(method_of(method_name(method)), method);
  }
  EXPECT_EQ(method_of("tools/List"), Method::other);
  EXPECT_EQ(method_name(Method::other), "");
}

}  // namespace
}  // namespace sitter
