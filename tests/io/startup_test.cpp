#include "io/system/startup.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(Startup, NoTwoSeedsAreTheSame) { EXPECT_NE(random_seed(), random_seed()); }

}  // namespace
}  // namespace sitter
