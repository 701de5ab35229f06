#include "core/tool_server/command_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tool_server/run_arguments.hpp"
#include "core/tool_server/text_template.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

const std::set<std::string> kKnown{"p", "q", "odd name"};

CommandTemplate command(std::string_view words) {
  auto read = CommandTemplate::read(words, kKnown);
  if (const auto* const complaint = std::get_if<Complaint>(&read)) {
    ADD_FAILURE() << complaint->text;
    return {};
  }
  return std::get<CommandTemplate>(std::move(read));
}

std::string complaint_about(std::string_view words) {
  auto read = CommandTemplate::read(words, kKnown);
  return std::holds_alternative<Complaint>(read) ? std::get<Complaint>(read).text : "";
}

std::vector<std::string> words(std::string_view words, std::string_view arguments) {
  auto made = command(words).words(RunArguments(arguments));
  if (const auto* const complaint = std::get_if<Complaint>(&made)) {
    ADD_FAILURE() << complaint->text;
    return {};
  }
  return std::get<std::vector<std::string>>(std::move(made));
}

std::string refusal(std::string_view words, std::string_view arguments) {
  auto made = command(words).words(RunArguments(arguments));
  return std::holds_alternative<Complaint>(made) ? std::get<Complaint>(made).text : "";
}

TEST(CommandTemplateTest, AnArgumentIsOneWordWhateverItContains) {
  EXPECT_THAT(words(R"json(["add","{p}"])json", R"json({"p":"$(id) `id` a b;\n'\"*"})json"),
              ElementsAre("add", "$(id) `id` a b;\n'\"*"));
  EXPECT_THAT(words(R"json(["{p}"])json", R"json({"p":""})json"), ElementsAre(""));
  EXPECT_THAT(words(R"json(["{p}"])json", R"json({"p":"{q}"})json"), ElementsAre("{q}"));
}

TEST(CommandTemplateTest, ANumberIsWrittenAsTheClientHasWrittenIt) {
  EXPECT_THAT(
      words(R"json(["{p}","x{q}"])json", R"json({"p":12345678901234567890123,"q":1.50})json"),
      ElementsAre("12345678901234567890123", "x1.50"));
}

TEST(CommandTemplateTest, AListIsAWordForEachElement) {
  EXPECT_THAT(words(R"json(["{p}"])json", R"json({"p":["a b",1,true,{"x":[]}]})json"),
              ElementsAre("a b", "1", "true", R"json({"x":[]})json"));
  EXPECT_THAT(words(R"json(["--tag={p}"])json", R"json({"p":["a","b"]})json"),
              ElementsAre("--tag=a", "--tag=b"));
  EXPECT_THAT(words(R"json(["--tag","{p}"])json", R"json({"p":["a","b"]})json"),
              ElementsAre("--tag", "a", "b"));
}

TEST(CommandTemplateTest, AnObjectIsJson) {
  EXPECT_THAT(words(R"json(["{p}"])json", R"json({"p":{"a": [1, 2]}})json"),
              ElementsAre(R"json({"a": [1, 2]})json"));
}

TEST(CommandTemplateTest, AMissingArgumentTakesItsWordAndAFlagBeforeItAlong) {
  for (const char* const none : {"{}", R"json({"p":null})json", R"json({"p":[]})json"}) {
    EXPECT_THAT(words(R"json(["a","{p}","b"])json", none), ElementsAre("a", "b"));
    EXPECT_THAT(words(R"json(["-v","--at","{p}","b"])json", none), ElementsAre("-v", "b"));
    EXPECT_THAT(words(R"json(["--at={p}","b"])json", none), ElementsAre("b"));
    EXPECT_THAT(words(R"json(["--","{p}"])json", none), ElementsAre("--"));
    EXPECT_THAT(words(R"json(["-","{p}"])json", none), ElementsAre("-"));
    EXPECT_THAT(words(R"json(["--at","x{p}","b"])json", none), ElementsAre("b"));
    // These flags cannot belong to the word behind them.
    EXPECT_THAT(words(R"json(["--max=20","{p}"])json", none), ElementsAre("--max=20"));
    EXPECT_THAT(words(R"json(["-v","--at={p}"])json", none), ElementsAre("-v"));
    EXPECT_THAT(words(R"json(["-v","-n{p}"])json", none), ElementsAre("-v"));
    EXPECT_THAT(words(R"json(["--at{p}{q}"])json", R"json({"q":"x"})json"), IsEmpty());
  }
}

TEST(CommandTemplateTest, ABooleanIsTheFlagOrNothing) {
  const char* const yes = R"json({"p":true})json";
  const char* const no = R"json({"p":false})json";
  for (const char* const form : {R"json(["--force{p}"])json", R"json(["--force","{p}"])json",
                                 R"json([["--force","{p}"]])json"}) {
    EXPECT_THAT(words(form, yes), ElementsAre("--force")) << form;
    EXPECT_THAT(words(form, no), IsEmpty()) << form;
    EXPECT_THAT(words(form, "{}"), IsEmpty()) << form;
  }
  EXPECT_THAT(words(R"json(["--force={p}"])json", no), ElementsAre("--force=false"));
  EXPECT_THAT(words(R"json(["--force=very","{p}"])json", no), ElementsAre("--force=very", "false"));
  EXPECT_THAT(words(R"json(["set","{p}"])json", yes), ElementsAre("set", "true"));
}

TEST(CommandTemplateTest, AGroupIsIncludedWholeOrLeftOut) {
  const char* const form = R"json(["a",["between","{p}","and","{q}",["x{p}"]],"z"])json";
  EXPECT_THAT(words(form, R"json({"p":1,"q":2})json"),
              ElementsAre("a", "between", "1", "and", "2", "x1", "z"));
  EXPECT_THAT(words(form, R"json({"p":1})json"), ElementsAre("a", "z"));
  EXPECT_THAT(words(R"json([["a",["b","{q}"]],[]])json", "{}"), ElementsAre("a"));
}

TEST(CommandTemplateTest, AnArgumentMustNotLookLikeAnOption) {
  const char* const option = R"json({"p":"--output=f"})json";
  EXPECT_EQ(refusal(R"json(["log","{p}"])json", option),
            "the argument `p` begins with \"-\" (--output=f), so the command could take it for "
            "an option; in cli_command the word \"--\" before it, or a flag with \"=\" in the same "
            "word, would allow it");
  // A flag before the word may take no value.
  EXPECT_NE(refusal(R"json(["log","--oneline","{p}"])json", option), "");
  EXPECT_NE(refusal(R"json(["{p}.txt"])json", option), "");
  EXPECT_NE(refusal(R"json(["{q}-x"])json", R"json({"q":""})json"), "");
  EXPECT_NE(refusal(R"json(["{p}"])json", R"json({"p":["a","-b"]})json"), "");
  EXPECT_NE(refusal(R"json(["{p}"])json", R"json({"p":-1})json"), "");
  EXPECT_NE(refusal(R"json(["{p}"])json", R"json({"p":"-"})json"), "");
  EXPECT_NE(refusal(R"json(["{p}","--"])json", option), "");
  EXPECT_THAT(words(R"json(["log","--","{p}"])json", option),
              ElementsAre("log", "--", "--output=f"));
  EXPECT_THAT(words(R"json(["--rev={p}"])json", option), ElementsAre("--rev=--output=f"));
  // An argument is never the word that ends the options.
  EXPECT_NE(refusal(R"json(["{q}","{p}"])json", R"json({"q":"--","p":"-x"})json"), "");
}

TEST(CommandTemplateTest, WhatNoWordCanHoldIsRefused) {
  EXPECT_THAT(refusal(R"json(["a{p}"])json", R"json({"p":"x\u0000y"})json"),
              HasSubstr("the argument `p` has a NUL character"));
  EXPECT_THAT(refusal(R"json(["{p}"])json", R"json({"p":"\ud800"})json"),
              HasSubstr("half of a surrogate pair"));
  EXPECT_THAT(refusal(R"json(["{p}{q}"])json", R"json({"p":["a"],"q":["b"]})json"),
              HasSubstr("the argument `q` is the second list in one word"));
}

TEST(CommandTemplateTest, AWordHasABound) {
  const auto arguments = [](std::size_t size) {
    return R"json({"p":")json" + std::string(size, 'x') + "\"}";
  };
  EXPECT_EQ(words(R"json(["{p}"])json", arguments(limits::kWordBytesMax)).front().size(),
            limits::kWordBytesMax);
  EXPECT_THAT(
      refusal(R"json(["{p}"])json", arguments(limits::kWordBytesMax + 1)),
      HasSubstr("makes a word of 131072 bytes, and a word of a command has at most 131071"));
}

TEST(CommandTemplateTest, ACommandHasABound) {
  const auto arguments = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i)
      list += (i == 0 ? "\"" : ",\"") + std::string(1022, 'x') + '"';
    return R"json({"p":[)json" + list + R"json(],"q":"y"})json";
  };
  constexpr std::size_t kMost = limits::kCommandBytesMax / 1024;
  EXPECT_EQ(words(R"json(["{p}{q}"])json", arguments(kMost)).size(), kMost);
  EXPECT_THAT(refusal(R"json(["{p}{q}"])json", arguments(kMost + 1)),
              HasSubstr("the argument `p` makes the command longer"));
  for (const char* const form : {R"json(["{q}","{p}{q}"])json", R"json(["{p}{q}","{q}"])json"}) {
    EXPECT_THAT(refusal(form, arguments(kMost)),
                HasSubstr("makes the command longer than 6291456 bytes"));
  }
}

TEST(CommandTemplateTest, AShortOptionDoesNotTakeTheNextWord) {
  EXPECT_THAT(refusal(R"json(["-e{p}","--","{q}"])json", R"json({"p":"","q":"-x"})json"),
              HasSubstr("the argument `p` is empty, so -e would take the next word"));
  EXPECT_THAT(words(R"json(["--e={p}","--","-e{p}"])json", R"json({"p":""})json"),
              ElementsAre("--e=", "--", "-e"));
}

TEST(CommandTemplateTest, OtherBracesAreText) {
  EXPECT_THAT(
      words(R"json(["{{p}}","{a: .b}","{}","{","a{","{p","{ p}","}}"])json", R"json({"p":1})json"),
      ElementsAre("{p}", "{a: .b}", "{}", "{", "a{", "{p", "{ p}", "}}"));
  EXPECT_THAT(words(R"json(["{odd name}"])json", R"json({"odd name":1})json"), ElementsAre("1"));
  EXPECT_THAT(words(R"json(["{{{p}}}"])json", R"json({"p":1})json"), ElementsAre("{{p}}"));
}

TEST(CommandTemplateTest, TheNamesOfAllPlacesAreKnown) {
  EXPECT_THAT(command(R"json(["a{p}",["{nme}",["{q}"]]])json").names(),
              ElementsAre("nme", "p", "q"));
}

TEST(CommandTemplateTest, TheToolItselfMayStandFirst) {
  for (const char* const form : {R"json(["./notes","add"])json", R"json(["notes","add"])json",
                                 R"json(["add"])json", R"json(["sh","notes","add"])json"}) {
    CommandTemplate made = command(form);
    made.drop_tool({{"./notes"}, {"notes"}, {"sh", "notes"}});
    EXPECT_THAT(std::get<0>(made.words(RunArguments("{}"))), ElementsAre("add"));
  }
}

TEST(CommandTemplateTest, WhatIsNoListOfWordsIsNamed) {
  EXPECT_EQ(complaint_about(R"json("add {p}")json"), "\"add {p}\" is not a list of words");
  EXPECT_EQ(complaint_about("[1]"), "1 is neither a word nor a list of words");
  EXPECT_EQ(complaint_about(R"json([["a",{}]])json"), "{} is neither a word nor a list of words");
  EXPECT_THAT(complaint_about(R"json(["a\u0000b"])json"), HasSubstr("NUL"));
}

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

using Kind = RunArguments::Kind;

Kind kind_of(const std::string& value) {
  const std::string raw = "{\"p\":" + value + "}";
  return RunArguments(raw).kind("p");
}

std::optional<std::string> text_of(const std::string& value) {
  const std::string raw = "{\"p\":" + value + "}";
  return RunArguments(raw).text("p");
}

std::optional<std::vector<std::string>> texts_of(const std::string& value) {
  const std::string raw = "{\"p\":" + value + "}";
  return RunArguments(raw).texts("p");
}

TEST(RunArgumentsTest, NullAndAnEmptyListCountAsMissing) {
  EXPECT_EQ(RunArguments("{}").kind("p"), Kind::missing);
  EXPECT_EQ(kind_of("null"), Kind::missing);
  EXPECT_EQ(kind_of("[]"), Kind::missing);
  EXPECT_EQ(kind_of("[ \n]"), Kind::missing);
  EXPECT_EQ(kind_of("[null]"), Kind::list);
  EXPECT_EQ(kind_of("[[]]"), Kind::list);
  EXPECT_EQ(kind_of("true"), Kind::boolean);
  EXPECT_EQ(kind_of("false"), Kind::boolean);
  for (const char* const text : {"\"\"", "\"null\"", "\"true\"", "0", "-1e400", "{}"}) {
    EXPECT_EQ(kind_of(text), Kind::text) << text;
  }
}

TEST(RunArgumentsTest, AStringIsDecodedAndEverythingElseIsJson) {
  EXPECT_THAT(text_of(R"json("a\n\u00fc\ud83d\ude00\\\"")json"),
              Optional(std::string("a\nü😀\\\"")));
  EXPECT_THAT(text_of(R"json("a\u0000b")json"), Optional(std::string("a\0b", 3)));
  EXPECT_THAT(text_of("1.50e3"), Optional(std::string("1.50e3")));
  EXPECT_THAT(text_of("123456789012345678901234567890"),
              Optional(std::string("123456789012345678901234567890")));
  EXPECT_THAT(text_of(R"json({"a": "\u00fc"})json"),
              Optional(std::string(R"json({"a": "\u00fc"})json")));
  EXPECT_THAT(texts_of(R"json(["a",1,null,true,[2],{"b": 3}])json"),
              Optional(ElementsAre("a", "1", "null", "true", "[2]", R"json({"b": 3})json")));
}

TEST(RunArgumentsTest, HalfOfASurrogatePairIsNoText) {
  EXPECT_EQ(text_of(R"json("\ud83d")json"), std::nullopt);
  EXPECT_EQ(text_of(R"json("\ude00\ud83d")json"), std::nullopt);
  EXPECT_EQ(texts_of(R"json(["a","\ud83d"])json"), std::nullopt);
}

TEST(RunArgumentsTest, OfANameThatIsWrittenTwiceTheLastValueCounts) {
  const RunArguments arguments(R"json({"p":"a","\u0070":"b","q":true,"q":null})json");
  EXPECT_THAT(arguments.text("p"), Optional(std::string("b")));
  EXPECT_EQ(arguments.kind("q"), Kind::missing);
  EXPECT_FALSE(arguments.is_true("q"));
}

}  // namespace
}  // namespace sitter
