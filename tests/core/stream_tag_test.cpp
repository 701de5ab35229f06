#include "core/streams/stream_tag.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sitter {
namespace {

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

TEST(NamesStreamTest, OnlyTheMetaOfTheResultCounts) {
  EXPECT_TRUE(names_stream(R"json({"_meta":{"io.modelcontextprotocol/subscriptionId":7}})json"));
  EXPECT_FALSE(names_stream(R"json({"_meta":{"x":7}})json"));
  EXPECT_FALSE(names_stream("{}"));
  EXPECT_FALSE(names_stream(""));
}

}  // namespace
}  // namespace sitter
