#include "core/tool_server/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Description description(std::string_view text) {
  auto read = read_description(text, {{"./notes"}, {"notes"}});
  if (const auto* const complaint = std::get_if<Complaint>(&read)) {
    ADD_FAILURE() << complaint->text;
    return {};
  }
  return std::get<Description>(std::move(read));
}

std::string complaint_about(std::string_view text) {
  auto read = read_description(text, {{"./notes"}, {"notes"}});
  return std::holds_alternative<Complaint>(read) ? std::get<Complaint>(read).text : "";
}

std::string complaint_about_tool(const std::string& members) {
  return complaint_about(R"json({"tools":[{"name":"add",)json" + members + "}]}");
}

std::vector<std::string> words(const CliTool& tool, std::string_view arguments) {
  return std::get<0>(tool.command.words(RunArguments(arguments)));
}

TEST(DescriptionTest, AToolIsListedWithoutWhatSaysHowItIsRun) {
  const Description read = description(R"json({"tools":[{
    "name":"add","title":"Add","description":"Adds a note.",
    "parameters":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},
    "annotations":{"readOnlyHint":false},"outputSchema":{"type":"object"},
    "cli_command":["add","{text}"],"stdin":"{text}","env":{"A":"{text}","B":1},"cwd":"sub",
    "timeout":1.5,"ok_exit_codes":[1],"content_type":"image/png"}]})json");
  ASSERT_EQ(read.tools.size(), 1U);
  const CliTool& tool = read.tools.front();
  EXPECT_EQ(
      tool.listed,
      R"json({"name":"add","title":"Add","description":"Adds a note.","annotations":{"readOnlyHint":false},"outputSchema":{"type":"object"},"inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}})json");
  EXPECT_THAT(words(tool, R"json({"text":"milk"})json"), ElementsAre("add", "milk"));
  EXPECT_TRUE(tool.input && tool.cwd && tool.output);
  EXPECT_EQ(tool.environment.size(), 2U);
  EXPECT_EQ(tool.timeout, Milliseconds(1500));
  EXPECT_THAT(tool.ok_exit_codes, ElementsAre(0, 1));
  EXPECT_EQ(tool.content_type, "image/png");
  EXPECT_THAT(read.remarks, IsEmpty());
}

TEST(DescriptionTest, TheFormsAreToldApartByTheirShape) {
  const std::string list =
      R"json([{"name":"a","inputSchema":{"type":"object"},"cli_command":["a"]}])json";
  for (
      const std::string& form :
      {list, "{\"tools\":" + list + "}",
       R"json({"jsonrpc":"2.0","id":1,"result":{"tools":)json" + list + "}}",
       std::string(
           R"json([{"type":"function","function":{"name":"a","parameters":{},"strict":true},"cli_command":["a"]}])json"),
       std::string(R"json([{"type":"function","function":{"name":"a","cli_command":["a"]}}])json"),
       std::string(
           R"json({"functions":[{"type":"function","name":"a","cli_command":["notes","a"]}]})json")}) {
    const Description read = description(form);
    ASSERT_EQ(read.tools.size(), 1U) << form;
    EXPECT_EQ(read.tools.front().listed, R"json({"name":"a","inputSchema":{"type":"object"}})json")
        << form;
    EXPECT_THAT(words(read.tools.front(), "{}"), ElementsAre("a")) << form;
  }
}

TEST(DescriptionTest, WhatIsWrongIsNamedByToolAndMember) {
  EXPECT_EQ(
      complaint_about_tool(
          R"json("parameters":{"properties":{"name":{},"text":{}}},"cli_command":["a","{nme}"])json"),
      "tool `add`: cli_command has {nme}, and the parameters have name, text");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":["{p}"])json"),
            "tool `add`: cli_command has {p}, and its schema has no properties");
  EXPECT_EQ(complaint_about_tool(R"json("title":"Add")json"),
            "tool `add`: it has no cli_command, the list of the words to run");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":"add")json"),
            "tool `add`: cli_command: \"add\" is not a list of words");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"parameters":{},"inputSchema":{})json"),
            "tool `add`: it has both inputSchema and parameters: leave out one of them");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"parameters":[])json"),
            "tool `add`: parameters is not a JSON Schema object");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"stdin":"{x}")json"),
            "tool `add`: stdin has {x}, and its schema has no properties");
  for (const auto& [member, what] :
       {std::pair(R"json("title":5)json", "title is not a string"),
        {R"json("description":7)json", "description is not a string"},
        {R"json("annotations":"x")json", "annotations is not an object"},
        {R"json("_meta":[])json", "_meta is not an object"},
        {R"json("icons":{})json", "icons is not a list"},
        {R"json("outputSchema":5)json", "outputSchema is not an object"},
        {R"json("outputSchema":{"type":"array"})json", "outputSchema is not of the type object"},
        {R"json("env":{"A":"\u0000"})json", "env has a NUL character"},
        {R"json("cwd":"a\u0000")json", "cwd has a NUL character"}}) {
    EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],)json" + std::string(member)),
              std::string("tool `add`: ") + what);
  }
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"stdin":1)json"),
            "tool `add`: stdin is not a string");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"env":[])json"),
            "tool `add`: env is not an object of names and values");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"env":{"A=B":"x"})json"),
            "tool `add`: env: A=B cannot be the name of a variable");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"timeout":0)json"),
            "tool `add`: timeout is 0; it must be a number of seconds above 0, and at most 86400");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"ok_exit_codes":[256])json"),
            "tool `add`: ok_exit_codes has 256, and an exit code is 0 to 255");
  EXPECT_EQ(complaint_about_tool(R"json("cli_command":[],"content_type":1)json"),
            "tool `add`: content_type is not a string");
  EXPECT_EQ(complaint_about(R"json([{"name":"a","cli_command":[]},{"cli_command":[]}])json"),
            "tool 2: it has no name");
  EXPECT_EQ(
      complaint_about(R"json([{"name":"a","cli_command":[]},{"name":"a","cli_command":[]}])json"),
      "tool `a` is listed twice");
  EXPECT_EQ(complaint_about("[1]"), "tool 1 is not an object");
}

TEST(DescriptionTest, WhatIsNoDescriptionIsNamed) {
  EXPECT_EQ(complaint_about(" \n"), "it is empty");
  EXPECT_EQ(complaint_about(std::string_view("{}\0x", 4)),
            "it is not JSON; it has a NUL character");
  EXPECT_EQ(
      complaint_about("usage: notes"),
      "it is not JSON; it begins with \"usage: notes\", and only the JSON may stand on stdout");
  EXPECT_EQ(complaint_about("{\n  \"tools\" []\n}"),
            "it is not JSON; line 2 has a mistake at character 11: \"\\\"tools\\\" []\"");
  EXPECT_EQ(complaint_about("["), "it is not JSON; line 1 has a mistake at character 2: \"[\"");
  EXPECT_THAT(complaint_about("{}"), HasSubstr("none of the forms that are known"));
  EXPECT_THAT(complaint_about("1"), HasSubstr("none of the forms that are known"));
  const std::string deep = std::string(101, '[') + std::string(101, ']');
  EXPECT_EQ(complaint_about(deep), "it is nested deeper than 100 levels");
}

TEST(DescriptionTest, TheNumberOfToolsHasABound) {
  std::string tools = "[";
  for (std::size_t i = 0; i < limits::kDescribedToolsMax; ++i) {
    tools += R"json({"name":"t)json" + std::to_string(i) + R"json(","cli_command":[]},)json";
  }
  EXPECT_EQ(description(tools.substr(0, tools.size() - 1) + "]").tools.size(),
            limits::kDescribedToolsMax);
  EXPECT_EQ(complaint_about(tools + R"json({"name":"t","cli_command":[]}])json"),
            "it has 10001 tools, and may have at most 10000");
}

TEST(DescriptionTest, APatternThatCannotBeReadIsRemarked) {
  const Description read = description(
      R"json([{"name":"a","cli_command":["{p}"],"parameters":{"properties":{"p":{"pattern":"(?=x)"}}}}])json");
  ASSERT_EQ(read.remarks.size(), 1U);
  EXPECT_THAT(read.remarks.front(), HasSubstr("tool `a`: the pattern (?=x)"));
}

TEST(DescriptionTest, ASpecificationOfUsageGivesItsCommands) {
  const Description read = description(R"json({"name":"Notes","bin":"notes","cmd":{
    "full_cmd":[],"subcommands":{
      "add":{"full_cmd":["add"],"hide":false,"help":"Adds a note","subcommands":{},
        "args":[{"name":"text","usage":"<text>","required":true,"double_dash":"Required","hide":false}],
        "flags":[{"name":"force","short":["f"],"long":["force"],"hide":false,"global":false,"arg":null},
                 {"name":"tag","short":[],"long":["tag"],"var":true,"help":"A tag","arg":{"name":"tag","required":true,
                   "choices":{"choices":["x","y"]}}},
                 {"name":"n","short":["n"],"long":[],"required":true,"arg":{"name":"n"}},
                 {"name":"secret","long":["secret"],"hide":true}]},
      "hidden":{"full_cmd":["hidden"],"hide":true},
      "list":{"full_cmd":["list"],"subcommands":{"all":{"full_cmd":["list","all"],"args":[],"flags":[]}}}},
    "args":[],"flags":[{"name":"verbose","short":["v"],"long":["verbose"],"global":true}]}})json");
  ASSERT_EQ(read.tools.size(), 2U);
  EXPECT_EQ(
      read.tools[0].listed,
      R"json({"name":"add","description":"Adds a note","inputSchema":{"type":"object","properties":{)json"
      R"json("verbose":{"type":"boolean"},"force":{"type":"boolean"},)json"
      R"json("tag":{"type":"array","items":{"type":"string","enum":["x","y"]},"description":"A tag"},)json"
      R"json("n":{"type":"string"},"text":{"type":"string"}},"required":["n","text"],"additionalProperties":false}})json");
  EXPECT_THAT(
      words(read.tools[0],
            R"json({"verbose":true,"force":true,"tag":["x","y"],"n":"-3","text":"-t"})json"),
      ElementsAre("add", "--verbose", "--force", "--tag=x", "--tag=y", "-n-3", "--", "-t"));
  EXPECT_EQ(read.tools[1].name, "list_all");
  EXPECT_THAT(words(read.tools[1], "{}"), ElementsAre("list", "all"));
}

TEST(DescriptionTest, AToolWithoutCommandsIsOneTool) {
  const Description read = description(
      R"json({"name":"n","bin":"notes","about":"Notes","cmd":{"full_cmd":[],"args":[{"name":"t","required":false}]}})json");
  ASSERT_EQ(read.tools.size(), 1U);
  EXPECT_THAT(read.tools.front().listed,
              HasSubstr(R"json("name":"notes","description":"Notes")json"));
}

}  // namespace
}  // namespace sitter
