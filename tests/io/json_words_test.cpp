#include "probe/json_words.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sitter {
namespace {

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(JsonWords, WhatIsNestedTooDeeplyIsNotValid) {
  EXPECT_EQ(parsed_json(nested(kParsedLevelsMax)).dump(), nested(kParsedLevelsMax));
  EXPECT_TRUE(parsed_json(nested(kParsedLevelsMax + 1)).is_discarded());
  EXPECT_TRUE(parsed_json(nested(3'000'000)).is_discarded());
  EXPECT_TRUE(parsed_json("[1").is_discarded());
}

}  // namespace
}  // namespace sitter
