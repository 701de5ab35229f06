#include "core/cli/text_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TextTemplate text(std::string_view written) {
  return TextTemplate::read(written, {"p", "odd name"});
}

/// The text with these arguments; "[missing]", or the complaint.
std::string filled(std::string_view written, std::string_view arguments, bool allows_nul = false) {
  const auto made = text(written).fill(RunArguments(arguments), allows_nul);
  if (const auto* const complaint = std::get_if<Complaint>(&made)) return complaint->text;
  return std::get<0>(made).value_or("[missing]");
}

TEST(TextTemplateTest, ArgumentsStandInTheirPlaces) {
  EXPECT_EQ(filled("{p}", R"json({"p":"{q} {{p}}"})json"), "{q} {{p}}");
  EXPECT_EQ(filled("<{p}{p}>", R"json({"p":1.50})json"), "<1.501.50>");
  EXPECT_EQ(filled("{p}", R"json({"p":["a", 1]})json"), R"json(["a", 1])json");
  EXPECT_EQ(filled("{p}", R"json({"p":true})json"), "true");
  EXPECT_EQ(filled("{odd name}", R"json({"odd name":"x"})json"), "x");
  EXPECT_EQ(filled("", "{}"), "");
  EXPECT_EQ(filled("text", "{}"), "text");
}

TEST(TextTemplateTest, ATextWithAMissingArgumentIsMissing) {
  for (const char* const none : {"{}", R"json({"p":null})json", R"json({"p":[]})json"}) {
    EXPECT_EQ(filled("a{p}", none), "[missing]") << none;
  }
  EXPECT_EQ(filled("a{p}", R"json({"p":""})json"), "a");
}

TEST(TextTemplateTest, OnlyWhereItIsAllowedATextHasANul) {
  EXPECT_EQ(filled("{p}", R"json({"p":"a\u0000b"})json", true), std::string("a\0b", 3));
  EXPECT_EQ(filled("{p}", R"json({"p":"a\u0000b"})json"),
            "the argument `p` has a NUL character, which cannot be passed on");
}

TEST(TextTemplateTest, HalfOfASurrogatePairIsRefused) {
  EXPECT_EQ(filled("{p}", R"json({"p":"\ud800"})json", true),
            "the argument `p` has half of a surrogate pair, which no text can hold");
}

TEST(TextTemplateTest, ATextHasABound) {
  constexpr std::size_t kPlaces = 64;
  const std::string argument(limits::kInputBytesMax / kPlaces, 'x');
  std::string text;
  for (std::size_t i = 0; i < kPlaces; ++i) text += "{p}";
  const std::string arguments = "{\"p\":\"" + argument + "\",\"q\":\"y\"}";
  EXPECT_EQ(filled(text, arguments).size(), limits::kInputBytesMax);
  EXPECT_EQ(filled(text + "{q}", arguments),
            "the argument `q` makes a text of more than 67108864 bytes");
}

TEST(TextTemplateTest, ALargeArgumentHasNoBoundOfItsOwn) {
  const std::string large(200'000, 'x');
  EXPECT_EQ(filled("{p}", "{\"p\":\"" + large + "\"}").size(), large.size());
}

TEST(TextTemplateTest, OtherBracesAreText) {
  for (const char* const written : {"{", "}", "{}", "{{", "}}", "{{}}", "{ p}", "{p", "{1}",
                                    "{a b}", "a{", "{-p}", "{\"p\":1}"}) {
    EXPECT_TRUE(text(written).is_literal()) << written;
    EXPECT_EQ(filled(written, R"json({"p":1})json"), written);
  }
  EXPECT_EQ(filled("{{p}} {p}", R"json({"p":1})json"), "{p} 1");
  EXPECT_EQ(filled("{{p}", R"json({"p":1})json"), "{1");
  EXPECT_EQ(filled("{p}}", R"json({"p":1})json"), "1}");
}

TEST(TextTemplateTest, ItsPartsAreKnown) {
  EXPECT_THAT(text("{a}{p}x{p}{_b-1.c}").names(), ElementsAre("_b-1.c", "a", "p"));
  EXPECT_THAT(text("{{a}}").names(), IsEmpty());
  EXPECT_TRUE(text("{p}").is_place());
  EXPECT_FALSE(text("{p}x").is_place());
  EXPECT_FALSE(text("{p}{p}").is_place());
  EXPECT_FALSE(text("{{p}}").is_place());
  EXPECT_EQ(text("a{{p}}b").literal(), "a{p}b");
  EXPECT_EQ(text("").literal(), "");
}

}  // namespace
}  // namespace sitter
