#include "core/base/recent_keys.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sitter {
namespace {

using Keys = RecentKeys<3>;

std::vector<std::string> taken(Keys keys) {
  std::vector<std::string> all;
  keys.move_to([&](std::string key) { all.push_back(std::move(key)); });
  return all;
}

TEST(RecentKeysTest, OnlyWhatWasAddedIsThere) {
  Keys keys;
  EXPECT_FALSE(keys.contains("a"));
  keys.add("a");
  EXPECT_TRUE(keys.contains("a"));
  EXPECT_FALSE(keys.contains("b"));
}

TEST(RecentKeysTest, TheOldestGivesWayToOneMoreThanFit) {
  Keys keys;
  for (const char* const key : {"a", "b", "c"}) keys.add(key);
  EXPECT_EQ(taken(keys), (std::vector<std::string>{"a", "b", "c"}));
  keys.add("b");
  EXPECT_EQ(taken(keys), (std::vector<std::string>{"a", "b", "c"}));
  keys.add("d");
  EXPECT_EQ(taken(keys), (std::vector<std::string>{"b", "c", "d"}));
}

TEST(RecentKeysTest, ARemovedKeyMayComeAgain) {
  Keys keys;
  keys.add("a");
  keys.add("b");
  keys.remove("a");
  keys.remove("never there");
  EXPECT_FALSE(keys.contains("a"));
  keys.add("a");
  EXPECT_EQ(taken(keys), (std::vector<std::string>{"b", "a"}));
}

TEST(RecentKeysTest, ARemovedKeyDoesNotHideTheOthers) {
  Keys keys;
  for (const char* const key : {"a", "b", "c"}) keys.add(key);
  keys.remove("a");
  keys.remove("a");
  keys.remove("b");
  EXPECT_TRUE(keys.contains("c"));
  keys.add("d");
  keys.remove("c");
  EXPECT_TRUE(keys.contains("d"));
}

TEST(RecentKeysTest, WhatWasHandedOverIsNoLongerThere) {
  Keys keys;
  keys.add("a");
  keys.move_to([](std::string) {});
  EXPECT_FALSE(keys.contains("a"));
}

}  // namespace
}  // namespace sitter
