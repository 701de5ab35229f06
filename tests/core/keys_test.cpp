#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/raw_id.hpp"
#include "core/base/recent_keys.hpp"

namespace sitter {
namespace {

TEST(RawIdTest, SpellingsOfTheSameIdHaveTheSameKey) {
  for (const auto& [a, b] :
       std::vector<std::pair<std::string, std::string>>{{"1", "1.0"},
                                                        {"1", "1e0"},
                                                        {"100", "1E2"},
                                                        {"0", "-0"},
                                                        {"0", "0.0"},
                                                        {R"json("\u00fc")json", "\"\xC3\xBC\""},
                                                        {R"json("a\/b")json", "\"a/b\""},
                                                        {"1e20", "100000000000000000000.0"}}) {
    EXPECT_EQ(id_key(a), id_key(b)) << a;
    EXPECT_TRUE(same_id(a, b)) << a;
  }
}

TEST(RawIdTest, DifferentIdsHaveDifferentKeys) {
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"1", "\"1\""},
           {"1", "2"},
           {"1", "-1"},
           {"1.5", "1"},
           {"\"a\"", "\"A\""},
           {"0", "null"},
           {"0", "{}"},
           {"0", "true"},
           {"999999999999999", "1000000000000000"},
           {"9007199254740992", "9007199254740993"},
           {"12345678901234567890", "12345678901234567891"}}) {
    EXPECT_FALSE(same_id(a, b)) << a << " " << b;
  }
}

TEST(RawIdTest, APlainIdIsItsOwnKey) {
  for (const std::string id : {"0", "7", "-7", "12345678901234567890", "\"abc\"", "\"\xC3\xBC\""}) {
    EXPECT_TRUE(is_plain_id(id)) << id;
    EXPECT_EQ(id_key(id), id);
  }
  for (const std::string id : {"1.0", "1e2", "-0", R"json("\u0061")json"}) {
    EXPECT_FALSE(is_plain_id(id)) << id;
  }
}

TEST(RawIdTest, OnlyLargeNumbersAreRounded) {
  EXPECT_EQ(rounded_id("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(rounded_id("-9007199254740993"), -9007199254740992.0);
  EXPECT_EQ(rounded_id("12345678901234567891"), rounded_id("12345678901234567890"));
  EXPECT_EQ(rounded_id("12345678901234567891"), rounded_id("1.234567890123456789e19"));
  for (const std::string id : {"9007199254740991", "0", "\"12345678901234567890\"", "null"}) {
    EXPECT_FALSE(rounded_id(id)) << id;
  }
}

TEST(RawIdTest, APrintOfADoubleIsToldFromAnIdOfManyDigits) {
  for (const std::string id : {"9007199254740992", "12345678901234567168", "12345678901234567000",
                               "-12345678901234567000", "1.2345678901234567e+19", "1e16"}) {
    EXPECT_EQ(printed_double(id), rounded_id(id)) << id;
    EXPECT_TRUE(printed_double(id)) << id;
    EXPECT_FALSE(shows_every_digit(id)) << id;
  }
  for (const std::string id : {"9007199254740993", "12345678901234567890", "12345678901234567001",
                               "-12345678901234567891"}) {
    EXPECT_FALSE(printed_double(id)) << id;
    EXPECT_TRUE(shows_every_digit(id)) << id;
  }
  for (const std::string id : {"9007199254740991", "7", "\"12345678901234567890\"", "null"}) {
    EXPECT_FALSE(printed_double(id)) << id;
    EXPECT_FALSE(shows_every_digit(id)) << id;
  }
}

TEST(RawIdTest, ABrokenStringIsItsOwnKey) {
  EXPECT_EQ(id_key(R"json("\ud83d")json"), R"json("\ud83d")json");
}

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

TEST(RecentKeysTest, DropsTheOldestKeyAboveTheLimit) {
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

TEST(RecentKeysTest, HandedOverKeysAreRemoved) {
  Keys keys;
  keys.add("a");
  keys.move_to([](std::string) {});
  EXPECT_FALSE(keys.contains("a"));
}

}  // namespace
}  // namespace sitter
