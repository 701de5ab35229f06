#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "setup/document.hpp"

namespace sitter::setup {
namespace {

using ::testing::HasSubstr;

using Words = std::vector<std::string>;

const Json kWrapped = {{"command", "s"}, {"args", {"--", "a"}}};

template <Notation notation>
class SetupDocumentTest : public ::testing::Test {
 protected:
  std::string rewrite(const std::string& text, const Json& wanted = kWrapped,
                      const Path& path = kEntry) const {
    return rewritten(notation, text, kFile, path, wanted);
  }

  std::string without(const std::string& text, const Path& path) const {
    return Document::read(notation, text, kFile)->without(path);
  }

  std::string refusal(const std::string& text) const {
    try {
      Document::read(notation, text, kFile);
    } catch (const Failure& failure) {
      return failure.what;
    }
    return "read";
  }

  static constexpr bool kIsJson = notation == Notation::json;
  static inline const std::string kFile = kIsJson ? "settings.json" : "config.toml";
  static inline const Path kEntry = {kIsJson ? "mcpServers" : "mcp_servers", "notes"};
};

using SetupJsonTest = SetupDocumentTest<Notation::json>;
using SetupTomlTest = SetupDocumentTest<Notation::toml>;

TEST_F(SetupJsonTest, CommentsAreBlankedWithoutChangeOfLength) {
  EXPECT_EQ(without_comments("{ // a\r\n \"b//\": /* c\n */ 1 }"),
            "{     \r\n \"b//\":     \n    1 }");
  EXPECT_EQ(without_comments("\xEF\xBB\xBF{}"), "   {}");
  EXPECT_EQ(without_comments("{} // a"), "{}     ");
  EXPECT_EQ(without_comments("{} /* a"), "{}     ");
}

/// A path of Windows, as a client writes it.
const Json kWindowsServer = {{"command", R"(C:\Program Files\nodejs\node.exe)"},
                             {"args", {R"(C:\me\server.js)"}}};
const Json kWindowsWrapped = {
    {"command", R"(C:\me\mcp-sitter.exe)"},
    {"args", {"--", R"(C:\Program Files\nodejs\node.exe)", R"(C:\me\server.js)"}}};

TEST_F(SetupJsonTest, BackslashesOfPathsStay) {
  const std::string text = rewrite(R"({
  "mcpServers": {
    "notes": { "command": "C:\\Program Files\\nodejs\\node.exe", "args": ["C:\\me\\server.js"] }
  }
})",
                                   kWindowsWrapped);
  EXPECT_THAT(text, HasSubstr(R"("command": "C:\\me\\mcp-sitter.exe")"));
  EXPECT_THAT(text, HasSubstr(R"("C:\\Program Files\\nodejs\\node.exe")"));
  EXPECT_EQ(*find(Document::read(Notation::json, text, kFile)->values(), kEntry), kWindowsWrapped);
}

TEST_F(SetupTomlTest, BackslashesOfPathsStay) {
  for (const char* const before :
       {"[mcp_servers.notes]\ncommand = 'C:\\Program Files\\nodejs\\node.exe'\nargs = "
        "['C:\\me\\server.js']\n",
        "[mcp_servers.notes]\ncommand = \"C:\\\\Program Files\\\\nodejs\\\\node.exe\"\nargs = "
        "[\"C:\\\\me\\\\server.js\"]\n"}) {
    EXPECT_EQ(*find(Document::read(Notation::toml, before, kFile)->values(), kEntry),
              kWindowsServer);
    const std::string text = rewrite(before, kWindowsWrapped);
    EXPECT_EQ(*find(Document::read(Notation::toml, text, kFile)->values(), kEntry), kWindowsWrapped)
        << text;
  }
}

TEST_F(SetupJsonTest, OnlyACommaBehindAValueIsATrailingOne) {
  std::string text = R"([1, {"a,}": "b",}, ] [,] {,})";
  blank_trailing_commas(text);
  EXPECT_EQ(text, R"([1, {"a,}": "b" }  ] [,] {,})");
}

TEST_F(SetupJsonTest, AValueIsReplacedAndAllElseStays) {
  EXPECT_EQ(
      rewrite("{ // x\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"a\", // "
              "the program\n\t\t\t\"args\": [\n\t\t\t\t\"b\",\n\t\t\t],\n\t\t},\n\t},\n}\n",
              {{"command", "s"}, {"args", {"--", "a", "b"}}}),
      "{ // x\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"s\", // "
      "the program\n\t\t\t\"args\": [\n\t\t\t\t\"--\",\n\t\t\t\t\"a\",\n\t\t\t\t\"b\",\n\t\t\t],"
      "\n\t\t},\n\t},\n}\n");
}

TEST_F(SetupJsonTest, CommentsInAListStayWithTheirElements) {
  struct Lists {
    std::string before;
    Words wanted;
    std::string after;
  };
  for (const Lists& each : {
           Lists{"[ // each\n  \"b\", // first\n  \"c\" /* last */\n]",
                 {"--", "a", "b", "c"},
                 "[ // each\n  \"--\",\n  \"a\",\n  \"b\", // first\n  \"c\" /* last */\n]"},
           Lists{"[/* x */ \"b\", // first\r\n  \"c\"\r\n]",
                 {"a", "b", "c"},
                 "[/* x */ \"a\", \"b\", // first\r\n  \"c\"\r\n]"},
           Lists{
               "[\r\n  \"b\" // first\r\n]", {"--", "b"}, "[\r\n  \"--\",\n  \"b\" // first\r\n]"},
           Lists{"[ /* none */ ]", {"a", "b"}, "[\"a\", \"b\" /* none */ ]"},
           Lists{"[\"a\", /* x */ \"b\", /* y */ ]",
                 {"a", "b", "c"},
                 "[\"a\", /* x */ \"b\", \"c\", /* y */ ]"},
           Lists{"[/* x */ \"a\", /* gone */ \"b\", /* y */ \"c\" /* z */]",
                 {"a", "c"},
                 "[/* x */ \"a\", /* gone */ \"c\" /* z */]"},
           Lists{"[/* x */ \"a\", \"b\" /* y */, /* z */]",
                 {"a"},
                 "[/* x */ \"a\" /* y */, /* z */]"},
           Lists{"[\"a\", \"b\"] // x", {"c"}, "[\"c\"] // x"},
           Lists{"[\"a\", \"b\"] // x", {}, "[] // x"},
       }) {
    const std::string head = "{\"mcpServers\": {\"notes\": {\"command\": \"s\",\n \"args\": ";
    EXPECT_EQ(rewrite(head + each.before + "\n}}}", {{"command", "s"}, {"args", each.wanted}}),
              head + each.after + "\n}}}");
  }
}

TEST_F(SetupJsonTest, LineEndsAndAByteOrderMarkStay) {
  EXPECT_EQ(rewrite("\xEF\xBB\xBF{\r\n  \"mcpServers\": {\r\n    \"notes\": {\r\n      "
                    "\"command\": \"a\"\r\n    }\r\n  }\r\n}\r\n",
                    {{"command", "s"}, {"args", {"a"}}}),
            "\xEF\xBB\xBF{\r\n  \"mcpServers\": {\r\n    \"notes\": {\r\n      "
            "\"command\": \"s\",\r\n      \"args\": [\"a\"]\r\n    }\r\n  }\r\n}\r\n");
}

TEST_F(SetupJsonTest, AMemberIsAddedInTheLineOfItsNeighbour) {
  EXPECT_EQ(rewrite(R"({"mcpServers":{"notes":{"command":"a","env":{"A":"b"}}}})",
                    {{"command", "s"}, {"args", {"a"}}, {"env", {{"A", "b"}}}}),
            R"({"mcpServers":{"notes":{"command":"s", "args": ["a"],"env":{"A":"b"}}}})");
}

TEST_F(SetupJsonTest, AMemberIsAddedBeforeATrailingComma) {
  EXPECT_EQ(rewrite("{\"mcpServers\": {\n  \"notes\": {\n    \"command\": \"a\",\n  },\n}}",
                    {{"command", "a"}, {"args", {"b"}}}),
            "{\"mcpServers\": {\n  \"notes\": {\n    \"command\": \"a\",\n    \"args\": "
            "[\"b\"],\n  },\n}}");
}

TEST_F(SetupJsonTest, WhatIsMissingIsMadeWithTheIndentOfTheFile) {
  const Json entry = {{"command", "s"}, {"args", {"a"}}};
  const std::string made =
      "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"s\",\n      \"args\": "
      "[\"a\"]\n    }\n  }\n}";
  EXPECT_EQ(rewrite("", entry), made + "\n");
  EXPECT_EQ(rewrite("{}", entry), made);
  EXPECT_EQ(rewrite("{\n  \"mcpServers\": {}\n}", entry), made);
  EXPECT_EQ(rewrite("{\n\t\"a\": 1\n}\n", entry),
            "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": "
            "\"s\",\n\t\t\t\"args\": [\"a\"]\n\t\t}\n\t}\n}\n");
}

TEST_F(SetupJsonTest, ARemovedMemberTakesOneCommaAndNoComment) {
  EXPECT_EQ(without("{\n  \"a\": 1, // one\n  \"b\": 2\n}", {"b"}), "{\n  \"a\": 1 // one\n}");
  EXPECT_EQ(without("{\n  \"a\": 1,\n  \"b\": 2\n}", {"a"}), "{\n  \"b\": 2\n}");
  EXPECT_EQ(without(R"({"a": 1, "b": 2, "c": 3})", {"b"}), R"({"a": 1, "c": 3})");
  EXPECT_EQ(without(R"({"a": 1, "b": 2})", {"b"}), R"({"a": 1})");
  EXPECT_EQ(without("{\n  \"a\": { \"b\": 2 }\n}", {"a", "b"}), "{\n  \"a\": {}\n}");
  EXPECT_EQ(without("{\n  \"a\": 1,\n}", {"a"}), "{\n}");
}

TEST_F(SetupJsonTest, TheLastOfTwoEqualKeysIsTheOneThatCounts) {
  const std::string text = R"({"mcpServers": {"notes": {"command": "a", "command": "b"}}})";
  EXPECT_EQ(rewrite(text, {{"command", "s"}}),
            R"({"mcpServers": {"notes": {"command": "a", "command": "s"}}})");
}

TEST_F(SetupJsonTest, AContainerThatIsNullBecomesAnObject) {
  const auto document = Document::read(Notation::json, R"({"servers": null, "b": 1})", "x");
  const std::string text = document->with({"servers", "a"}, Json::object({{"c", 2}}), "");
  EXPECT_EQ(Json::parse(text), Json::parse(R"({"servers": {"a": {"c": 2}}, "b": 1})"));
}

TEST_F(SetupJsonTest, KeysMayHaveEscapes) {
  const std::string text = R"({"a\\": {"\"b\u00e9\\\"": 1}})";
  EXPECT_EQ(rewrite(text, 2, {"a\\", "\"b\u00e9\\\""}), R"({"a\\": {"\"b\u00e9\\\"": 2}})");
}

TEST_F(SetupJsonTest, ABrokenFileIsRefusedWithItsPlaceAndWithoutItsText) {
  EXPECT_THAT(refusal("{\n  \"a\": secret\n}"), HasSubstr("settings.json is not valid JSON at line "
                                                          "2, column "));
  EXPECT_THAT(refusal("{\n  \"a\": secret\n}"), ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(refusal("{\"a\": 1"), HasSubstr("at line 1, column 8"));
  EXPECT_THAT(refusal("{\"a\": \"\xFF\"}"), HasSubstr("at line 1"));
  EXPECT_THAT(refusal("{,}"), HasSubstr("at line 1"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(std::string(5000, '[')), HasSubstr("nested too deeply"));
}

TEST_F(SetupJsonTest, AValueThatIsNoObjectHoldsNoServers) {
  EXPECT_THROW(rewrite(R"({"mcpServers": []})", {{"command", "s"}}), Failure);
}

TEST_F(SetupTomlTest, TheValuesOfATableAreReplaced) {
  EXPECT_EQ(rewrite("# x\n[mcp_servers.notes] # h\n  command = 'a' # c\n  args = [ # d\n    "
                    "\"b\",\n  ]\n[other]\nx = 1979-05-27\n"),
            "# x\n[mcp_servers.notes] # h\n  command = \"s\" # c\n  args = [\"--\", "
            "\"a\"]\n[other]\nx = 1979-05-27\n");
}

TEST_F(SetupTomlTest, CommentsInAListStayWithTheirElements) {
  EXPECT_EQ(
      rewrite("[mcp_servers.notes]\ncommand = 's'\nargs = [ # d\n  'b', # é\n  \"c\" # f\n]\n",
              {{"command", "s"}, {"args", {"\x7F", "a", "b", "c"}}}),
      "[mcp_servers.notes]\ncommand = 's'\nargs = [ # d\n  \"\\u007f\",\n  \"a\",\n  'b', # "
      "é\n  \"c\" # f\n]\n");
  EXPECT_EQ(rewrite("[mcp_servers.notes]\ncommand = 's'\nargs = [ # none\n]\n"),
            "[mcp_servers.notes]\ncommand = 's'\nargs = [\"--\", \"a\" # none\n]\n");
}

TEST_F(SetupTomlTest, AMissingMemberIsAddedInEverySpelling) {
  struct Spelling {
    std::string before, after;
  };
  for (const Spelling& each : {
           Spelling{"[mcp_servers.notes]\r\n  command = \"a\"\r\n\r\n[x]\r\n",
                    "[mcp_servers.notes]\r\n  command = \"s\"\r\n  args = [\"--\", "
                    "\"a\"]\r\n\r\n[x]\r\n"},
           Spelling{"[mcp_servers.\"notes\"]\ncommand = \"a\"",
                    "[mcp_servers.\"notes\"]\ncommand = \"s\"\nargs = [\"--\", \"a\"]\n"},
           Spelling{"[mcp_servers]\nnotes = { command = \"a\" } # c\n",
                    "[mcp_servers]\nnotes = { command = \"s\", args = [\"--\", \"a\"] } # c\n"},
           Spelling{"[mcp_servers]\nnotes.command = \"a\"\n",
                    "[mcp_servers]\nnotes.command = \"s\"\nnotes.args = [\"--\", \"a\"]\n"},
           Spelling{"mcp_servers.'notes'.command = \"a\"\nx = \"é\"\n",
                    "mcp_servers.'notes'.command = \"s\"\nmcp_servers.'notes'.args = [\"--\", "
                    "\"a\"]\nx = \"é\"\n"},
           Spelling{"mcp_servers = { notes = { command = \"a\" } }\n",
                    "mcp_servers = { notes = { command = \"s\", args = [\"--\", \"a\"] } }\n"},
           Spelling{"\xEF\xBB\xBFx = \"é\" # ü\n[mcp_servers.notes]\ncommand = \"a\" # é\n",
                    "\xEF\xBB\xBFx = \"é\" # ü\n[mcp_servers.notes]\ncommand = \"s\" # é\nargs = "
                    "[\"--\", \"a\"]\n"},
       }) {
    EXPECT_EQ(rewrite(each.before), each.after);
  }
}

TEST_F(SetupTomlTest, TablesInsideOfAnEntryStay) {
  const Json wanted = {{"command", "s"}, {"args", {"a"}}, {"env", {{"A", "b"}}}};
  EXPECT_EQ(rewrite("[mcp_servers.notes.env]\nA = \"b\"\n\n[mcp_servers.notes]\ncommand = \"a\"\n",
                    wanted),
            "[mcp_servers.notes.env]\nA = \"b\"\n\n[mcp_servers.notes]\ncommand = \"s\"\nargs = "
            "[\"a\"]\n");
}

TEST_F(SetupTomlTest, ANewEntryIsATableAtTheEnd) {
  const std::string entry = "[mcp_servers.notes]\ncommand = \"s\"\nargs = [\"--\", \"a\"]\n";
  EXPECT_EQ(rewrite(""), entry);
  EXPECT_EQ(rewrite("model = \"x\""), "model = \"x\"\n\n" + entry);
  EXPECT_EQ(rewrite("[mcp_servers.other]\nurl = \"u\"\n"),
            "[mcp_servers.other]\nurl = \"u\"\n\n" + entry);
  EXPECT_EQ(rewrite("mcp_servers = { other = { url = \"u\" } }\n"),
            "mcp_servers = { other = { url = \"u\" }, notes = { command = \"s\", args = [\"--\", "
            "\"a\"] } }\n");
  EXPECT_THAT(rewrite("", kWrapped, {"mcp_servers", "a.b"}), HasSubstr("[mcp_servers.\"a.b\"]\n"));
}

TEST_F(SetupTomlTest, TextsAreEscaped) {
  const Json wanted = {{"command", "a\"\\\n\x7F\x01é"}};
  const std::string text = rewrite("", wanted);
  EXPECT_EQ(text, "[mcp_servers.notes]\ncommand = \"a\\\"\\\\\\n\\u007f\\u0001é\"\n");
}

TEST_F(SetupTomlTest, ARemovedTableTakesItsHeadersAndLines) {
  const std::string before = "[a]\nx = 1 # c\n";
  EXPECT_EQ(without(before + "\n[mcp_servers.notes]\ncommand = \"a\"\nargs = [\n  \"b\",\n]\n\n"
                             "[mcp_servers.notes.env]\nA = \"b\"\n",
                    kEntry),
            before);
  EXPECT_EQ(without("[mcp_servers]\nnotes.command = \"a\"\nother.command = \"b\"\n", kEntry),
            "[mcp_servers]\nother.command = \"b\"\n");
  EXPECT_EQ(without("mcp_servers = { a = { x = 1 }, notes = { x = 2 } }\n", kEntry),
            "mcp_servers = { a = { x = 1 } }\n");
  EXPECT_EQ(without("mcp_servers = { notes = { x = 2 }, a = { x = 1 } }\n", kEntry),
            "mcp_servers = { a = { x = 1 } }\n");
}

TEST_F(SetupTomlTest, AValueThatIsNoTableHoldsNoServers) {
  EXPECT_THROW(rewrite("mcp_servers = 3\n"), Failure);
}

TEST_F(SetupTomlTest, ABrokenFileIsRefusedWithItsPlace) {
  EXPECT_THAT(refusal("[a]\nx = 1\n[a]\n"),
              HasSubstr("config.toml is not valid TOML at line 3, column 1"));
}

}  // namespace
}  // namespace sitter::setup
