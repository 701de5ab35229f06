#include "core/streams/listens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;

ListenFilter filter(std::string_view raw) { return ListenFilter::of(raw).value(); }

TEST(ListenFilterTest, ReadsWhatIsAskedFor) {
  const auto asked = filter(R"json({"toolsListChanged":true,"promptsListChanged":false,)json"
                            R"json("resourceSubscriptions":["a:/b",7]})json");
  EXPECT_TRUE(asked.has(CatalogKind::tools));
  EXPECT_FALSE(asked.has(CatalogKind::prompts));
  EXPECT_FALSE(asked.has(CatalogKind::resources));
  EXPECT_THAT(asked.uris, ElementsAre("\"a:/b\""));
  EXPECT_EQ(asked.text(), R"json({"toolsListChanged":true,"resourceSubscriptions":["a:/b"]})json");
}

TEST(ListenFilterTest, KeepsWhatItDoesNotKnow) {
  const auto asked = filter(R"json({"taskIds":["t"],"toolsListChanged":true})json");
  EXPECT_EQ(asked.text(), R"json({"toolsListChanged":true,"taskIds":["t"]})json");
}

TEST(ListenFilterTest, AnythingButAnObjectIsNone) {
  EXPECT_FALSE(ListenFilter::of(""));
  EXPECT_FALSE(ListenFilter::of("[]"));
  EXPECT_EQ(filter("{}").text(), "{}");
}

TEST(ListenFilterTest, CoversWhatItHasAll) {
  const auto all = filter(
      R"json({"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a","b"]})json");
  EXPECT_TRUE(all.covers(filter("{}")));
  EXPECT_TRUE(all.covers(
      filter(R"json({"toolsListChanged":true,"resourceSubscriptions":["\u0062"]})json")));
  EXPECT_FALSE(all.covers(filter(R"json({"resourcesListChanged":true})json")));
  EXPECT_FALSE(all.covers(filter(R"json({"resourceSubscriptions":["c"]})json")));
}

TEST(ListensTest, AreFoundByTheMeaningOfTheirId) {
  Listens listens;
  listens.open("1", "line", filter("{}")).gen = 2;
  EXPECT_NE(listens.find("1.0"), nullptr);
  EXPECT_EQ(listens.find("\"1\""), nullptr);
  EXPECT_NE(listens.find("1", 2), nullptr);
  EXPECT_EQ(listens.find("1", 3), nullptr);
  listens.close(*listens.find("1"));
  EXPECT_EQ(listens.find("1"), nullptr);
}

TEST(ListensTest, ARoundedIdIsThatOfAStreamOfTheChild) {
  Listens listens;
  listens.open("12345678901234567890", "line", filter("{}")).gen = 2;
  EXPECT_EQ(listens.find_rounded("12345678901234567168", 2), listens.find("12345678901234567890"));
  EXPECT_EQ(listens.find_rounded("12345678901234567168", 3), nullptr);
  EXPECT_EQ(listens.find_rounded("12345678901234567892", 2), nullptr) << "no double prints it";
}

TEST(ListensTest, WaitUntilTheyAreGranted) {
  Listens listens;
  EXPECT_FALSE(listens.is_waiting());
  auto& stream = listens.open("1", "line", filter(R"json({"toolsListChanged":true})json"));
  EXPECT_TRUE(listens.is_waiting());
  EXPECT_FALSE(listens.wants(CatalogKind::tools));
  stream.granted = stream.wanted;
  EXPECT_FALSE(listens.is_waiting());
  EXPECT_TRUE(listens.wants(CatalogKind::tools));
  EXPECT_FALSE(listens.wants(CatalogKind::prompts));
}

TEST(ListensTest, TheLast64CancelledOnesAreRemembered) {
  Listens listens;
  const auto cancel = [&](int id) {
    listens.cancel(listens.open(std::to_string(id), "line", filter("{}")));
  };
  for (int id = 1; id <= 64; ++id) cancel(id);
  EXPECT_TRUE(listens.was_cancelled("1"));
  EXPECT_TRUE(listens.was_cancelled("64.0"));
  cancel(65);
  EXPECT_FALSE(listens.was_cancelled("1"));
  EXPECT_TRUE(listens.was_cancelled("2"));
  EXPECT_TRUE(listens.was_cancelled("65"));
}

TEST(TaggedTest, PutsTheStreamsIdWhereItBelongs) {
  const auto tag = [](const std::string& line, std::string_view params) {
    const OwnedLine owned{std::string_view(line)};
    const std::size_t at = params.empty() ? 0 : owned.text().find(params);
    return tagged(owned.line(), std::string_view(owned.text()).substr(at, params.size()), "\"s\"");
  };
  EXPECT_EQ(tag(R"json({"method":"x"})json", ""),
            R"json({"method":"x","params":{"_meta":)json"
            R"json({"io.modelcontextprotocol/subscriptionId":"s"}}})json");
  EXPECT_EQ(tag(R"json({"method":"x","params":{"uri":"u"}})json", R"json({"uri":"u"})json"),
            R"json({"method":"x","params":{"uri":"u","_meta":)json"
            R"json({"io.modelcontextprotocol/subscriptionId":"s"}}})json");
  EXPECT_EQ(tag(R"json({"params":{"_meta":{"a":1}}})json", R"json({"_meta":{"a":1}})json"),
            R"json({"params":{"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":"s"}}})json");
  EXPECT_EQ(tag(R"json({"params":null})json", "null"),
            R"json({"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}})json");
}

}  // namespace
}  // namespace sitter
