#include "core/tell/builtin_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sitter {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> names(const BuiltinNames& names) {
  std::vector<std::string> all;
  for (const std::string& offered : names.definitions()) {
    all.push_back(json::parse(offered)["name"]);
  }
  return all;
}

std::string kill_error(std::string_view raw) {
  const auto parsed = parse_kill_arguments(raw);
  const auto* error = std::get_if<ArgumentError>(&parsed);
  return error ? *error : "";
}

std::string stderr_error(std::string_view raw) {
  const auto parsed = parse_stderr_arguments(raw);
  const auto* error = std::get_if<ArgumentError>(&parsed);
  return error ? *error : "";
}

StderrRing::Query query(std::string_view raw) {
  const auto parsed = parse_stderr_arguments(raw);
  const auto* query = std::get_if<StderrRing::Query>(&parsed);
  if (!query) ADD_FAILURE() << std::get<ArgumentError>(parsed);
  return query ? *query : StderrRing::Query{.lines = 0};
}

KillScope scope(std::string_view raw) {
  const auto parsed = parse_kill_arguments(raw);
  const auto* arguments = std::get_if<KillArguments>(&parsed);
  if (!arguments) ADD_FAILURE() << std::get<ArgumentError>(parsed);
  return arguments ? arguments->scope : KillScope::child;
}

TEST(BuiltinDefinitionTest, CarriesWhatEveryRevisionKnowsAndNoMore) {
  for (const Builtin builtin : kBuiltins) {
    const json tool = json::parse(definition(builtin, "x\"y"), nullptr, false);
    ASSERT_TRUE(tool.is_object());
    std::vector<std::string> keys;
    for (const auto& [key, value] : tool.items()) keys.push_back(key);
    EXPECT_THAT(keys, ElementsAre("annotations", "description", "inputSchema", "name"));
    EXPECT_EQ(tool["name"], "x\"y");
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
  }
}

TEST(BuiltinDefinitionTest, CostLittleInTheContextOfAModel) {
  std::size_t usual = 0, all = 0;
  for (const Builtin builtin : kBuiltins) {
    json tool = json::parse(definition(builtin, plain_name(builtin)));
    tool.erase("annotations");
    all += tool.dump().size();
    if (builtin < Builtin::rebuild) usual += tool.dump().size();
  }
  EXPECT_LT(usual, 1100u);
  EXPECT_LT(all, 2200u);
}

TEST(BuiltinDefinitionTest, OnlySomeChangeThings) {
  for (const Builtin builtin : kBuiltins) {
    const bool changes =
        builtin == Builtin::kill || builtin == Builtin::rebuild || builtin == Builtin::call;
    const json expected = {{"readOnlyHint", !changes},
                           {"destructiveHint", changes},
                           {"idempotentHint", builtin != Builtin::call},
                           {"openWorldHint", false}};
    EXPECT_EQ(json::parse(definition(builtin, "x"))["annotations"], expected);
  }
}

TEST(BuiltinDefinitionTest, NamesTheArguments) {
  const auto properties = [](Builtin builtin) {
    std::vector<std::string> keys;
    const json tool = json::parse(definition(builtin, "x"));
    for (const auto& [key, value] : tool["inputSchema"]["properties"].items()) keys.push_back(key);
    return keys;
  };
  EXPECT_THAT(properties(Builtin::status), ElementsAre());
  EXPECT_THAT(properties(Builtin::binary_info), ElementsAre());
  EXPECT_THAT(properties(Builtin::kill), ElementsAre("scope"));
  EXPECT_THAT(properties(Builtin::child_stderr),
              ElementsAre("generation", "grep", "lines", "since_spawn"));
}

TEST(BuiltinNamesTest, ArePlainUntilTheChildIsKnown) {
  EXPECT_THAT(names(BuiltinNames()), ElementsAre("sitter_status", "sitter_kill",
                                                 "sitter_binary_info", "sitter_child_stderr"));
}

TEST(BuiltinNamesTest, MakeWayForTheChildsOwnToolUntilANameIsFree) {
  BuiltinNames offered;
  offered.make_way_for(
      std::vector<std::string>{"sitter_status", "sitter_kill", "outer_sitter_kill"});
  EXPECT_THAT(names(offered), ElementsAre("outer_sitter_status", "outer_outer_sitter_kill",
                                          "sitter_binary_info", "sitter_child_stderr"));
  EXPECT_EQ(offered.find("sitter_status"), std::nullopt);
  EXPECT_EQ(offered.find("outer_sitter_kill"), std::nullopt);
  EXPECT_EQ(offered.find("outer_outer_sitter_kill"), Builtin::kill);
  EXPECT_EQ(offered.find("sitter_child_stderr"), Builtin::child_stderr);
  EXPECT_EQ(json::parse(offered.definitions()[0])["name"], "outer_sitter_status");
  EXPECT_THAT(offered.instructions(), HasSubstr("outer_outer_sitter_kill"));
}

TEST(BuiltinNamesTest, OnlyTheAllowedToolsAreOffered) {
  BuiltinNames offered(true, {}, {Builtin::kill, Builtin::rebuild});
  EXPECT_THAT(names(offered), ElementsAre("sitter_kill", "sitter_rebuild"));
  offered.offer(Builtin::call);
  EXPECT_FALSE(offered.offers(Builtin::call));
  EXPECT_EQ(offered.find("sitter_status"), std::nullopt);
  EXPECT_THAT(offered.instructions(),
              AllOf(HasSubstr("sitter_kill"), Not(HasSubstr("sitter_status"))));
}

TEST(BuiltinNamesTest, AToolThatIsNotOfferedHasNoName) {
  const BuiltinNames offered(true, {{Builtin::kill, "stop"}}, {Builtin::kill, Builtin::build_log});
  EXPECT_EQ(offered.name(Builtin::rebuild), "");
  EXPECT_EQ(offered.first_name({Builtin::rebuild, Builtin::kill, Builtin::build_log}), "stop");
  EXPECT_EQ(offered.first_name({Builtin::rebuild, Builtin::status}), "");
}

TEST(BuiltinNamesTest, ThoseForBuildsComeWithABuildCommand) {
  EXPECT_THAT(names(BuiltinNames(true)),
              ElementsAre("sitter_status", "sitter_kill", "sitter_binary_info",
                          "sitter_child_stderr", "sitter_rebuild", "sitter_build_log"));
  EXPECT_THAT(BuiltinNames(true).instructions(),
              HasSubstr("After an edit, call sitter_rebuild; it builds and restarts"));
}

TEST(BuiltinNamesTest, SayWhatToCallAfterAnEdit) {
  EXPECT_THAT(BuiltinNames().instructions(), HasSubstr("After an edit, call sitter_kill;"));
  EXPECT_THAT(BuiltinNames().definitions()[1], HasSubstr("after an edit"));
  const BuiltinNames offered(true, {{Builtin::rebuild, "recompile"}});
  EXPECT_THAT(offered.instructions(),
              HasSubstr("After an edit, call recompile; it builds and restarts"));
  EXPECT_THAT(offered.definitions()[1], HasSubstr("After an edit, call recompile instead."));
}

TEST(BuiltinNamesTest, MayBeChosen) {
  BuiltinNames offered(true, {{Builtin::rebuild, "recompile"}});
  EXPECT_EQ(offered.name(Builtin::rebuild), "recompile");
  EXPECT_EQ(offered.find("recompile"), Builtin::rebuild);
  EXPECT_EQ(offered.find("sitter_rebuild"), std::nullopt);
  const std::vector<std::string> taken = {"recompile"};
  offered.make_way_for(taken);
  EXPECT_EQ(offered.name(Builtin::rebuild), "outer_recompile");
}

TEST(BuiltinNamesTest, ArePlainAgainWhenTheChildsToolIsGone) {
  BuiltinNames offered;
  offered.make_way_for(std::vector<std::string>{"sitter_status"});
  offered.make_way_for({});
  EXPECT_EQ(offered.find("sitter_status"), Builtin::status);
}

TEST(KillArgumentsTest, AutoIsTheDefault) {
  for (const char* raw :
       {"", "null", "{}", R"json({"scope":null})json", R"json({"scope":"auto"})json"}) {
    EXPECT_EQ(scope(raw), KillScope::automatic) << raw;
  }
}

TEST(KillArgumentsTest, ScopesAreNamed) {
  EXPECT_EQ(scope(R"json({"scope":"child"})json"), KillScope::child);
  EXPECT_EQ(scope(R"json({"scope":"same-executable"})json"), KillScope::same_executable);
  EXPECT_EQ(kill_error(R"json({"scope":"all"})json"),
            "scope must be auto, child or same-executable");
  EXPECT_EQ(kill_error(R"json({"scope":1})json"), "scope must be a string");
}

TEST(KillArgumentsTest, AnUnknownArgumentIsNamed) {
  EXPECT_EQ(kill_error(R"json({"force\n":true})json"), "unknown argument force; known: scope");
}

TEST(StderrArgumentsTest, DefaultsHold) {
  const StderrRing::Query plain = query("");
  EXPECT_EQ(plain.lines, 200u);
  EXPECT_FALSE(plain.since_spawn);
  EXPECT_EQ(plain.generation, std::nullopt);
  EXPECT_EQ(plain.grep, "");
}

TEST(StderrArgumentsTest, AllAreRead) {
  const auto all = query(R"json({"lines":7,"since_spawn":true,"grep":"a\\d","generation":3})json");
  EXPECT_EQ(all.lines, 7u);
  EXPECT_TRUE(all.since_spawn);
  EXPECT_EQ(all.generation, 3);
  EXPECT_EQ(all.grep, "a\\d");
}

TEST(StderrArgumentsTest, AWholeNumberMayBeSpelledInAnyWay) {
  for (const char* spelling : {"2", "2.0", "0.2e1", "\"2\"", "\"2.0\""}) {
    EXPECT_EQ(query(std::string(R"json({"lines":)json") + spelling + "}").lines, 2u) << spelling;
  }
  EXPECT_TRUE(query(R"json({"since_spawn":"true"})json").since_spawn);
}

TEST(StderrArgumentsTest, LinesAreBounded) {
  EXPECT_EQ(query(R"json({"lines":1})json").lines, 1u);
  EXPECT_EQ(query(R"json({"lines":1000})json").lines, 1000u);
  for (const char* wrong : {"0", "1001", "-1", "2.5", "\"\"", "\"x\"", "[]", "true", "1e300",
                            "18446744073709551615", "\"[[[[\""}) {
    EXPECT_EQ(stderr_error(std::string(R"json({"lines":)json") + wrong + "}"),
              "lines must be a whole number from 1 to 1000")
        << wrong;
  }
}

TEST(StderrArgumentsTest, OtherWrongTypesAreNamed) {
  EXPECT_EQ(stderr_error(R"json({"since_spawn":1})json"), "since_spawn must be true or false");
  EXPECT_EQ(stderr_error(R"json({"grep":["a"]})json"), "grep must be a string");
  EXPECT_EQ(stderr_error(R"json({"generation":0})json"),
            "generation must be a whole number from 1 to 2147483647");
  EXPECT_EQ(stderr_error(R"json({"line":5})json"),
            "unknown argument line; known: lines, since_spawn, grep, generation");
}

TEST(NoArgumentsTest, OnlyAnEmptyObjectOrNothingIsRight) {
  EXPECT_EQ(parse_no_arguments(""), (std::variant<NoArguments, ArgumentError>(NoArguments())));
  EXPECT_EQ(parse_no_arguments("{}"), (std::variant<NoArguments, ArgumentError>(NoArguments())));
  EXPECT_EQ(std::get<ArgumentError>(parse_no_arguments(R"json({"a":1})json")),
            "unknown argument a; known: none");
  for (const char* raw : {"[]", "1", "\"\"", "{", "false"}) {
    EXPECT_EQ(std::get<ArgumentError>(parse_no_arguments(raw)),
              "arguments must be a valid JSON object")
        << raw;
  }
}

TEST(NoArgumentsTest, WhatIsTooLargeIsNotRead) {
  const std::string deep(65'536, '[');
  EXPECT_EQ(std::get<ArgumentError>(parse_no_arguments(deep)),
            "arguments must be a valid JSON object");
  EXPECT_EQ(std::get<ArgumentError>(parse_no_arguments(deep + "[")),
            "arguments are larger than 65536 bytes");
}

TEST(RebuildArgumentsTest, AreReadAndChecked) {
  const auto parsed = [](std::string_view raw) { return parse_rebuild_arguments(raw); };
  const auto read = [&](std::string_view raw) { return std::get<RebuildArguments>(parsed(raw)); };
  EXPECT_EQ(read(""), RebuildArguments());
  EXPECT_EQ(read(R"json({"mode":"kill-first","timeout_seconds":86400})json"),
            (RebuildArguments{RebuildMode::kill_first, std::chrono::hours(24)}));
  const auto error = [&](std::string_view raw) { return std::get<ArgumentError>(parsed(raw)); };
  EXPECT_EQ(error(R"json({"timeout_seconds":86401})json"),
            "timeout_seconds must be a whole number from 1 to 86400");
  EXPECT_EQ(error(R"json({"mode":1})json"), "mode must be a string");
  EXPECT_EQ(error(R"json({"x":1})json"), "unknown argument x; known: mode, timeout_seconds");
}

TEST(CallArgumentsTest, TheInnerOnesStayAsTheyAreWritten) {
  const auto parsed = [](std::string_view raw) { return parse_call_arguments(raw); };
  const auto read = [&](std::string_view raw) { return std::get<CallArguments>(parsed(raw)); };
  EXPECT_EQ(read(R"json({"tool":"a"})json"), (CallArguments{"a", "{}"}));
  EXPECT_EQ(read(R"json({"tool":"a","arguments":null})json"), (CallArguments{"a", "{}"}));
  EXPECT_EQ(read(R"json({"tool":"a","arguments":{ "x" : 1e2 }})json"),
            (CallArguments{"a", R"json({ "x" : 1e2 })json"}));
  EXPECT_EQ(read(R"json({"tool":"a","arguments":"{\"x\":1}"})json"),
            (CallArguments{"a", R"json({"x":1})json"}));
  const auto error = [&](std::string_view raw) { return std::get<ArgumentError>(parsed(raw)); };
  EXPECT_EQ(error(""), "tool must be the name of a tool of the server");
  EXPECT_EQ(error(R"json({"tool":"a","arguments":[1]})json"), "arguments must be an object");
  EXPECT_EQ(error(R"json({"tool":"a","arguments":"{x"})json"), "arguments is not valid JSON");
  EXPECT_EQ(error(R"json({"name":"a"})json"), "unknown argument name; known: tool, arguments");
}

TEST(BuildLogArgumentsTest, AreReadAndChecked) {
  const auto read = std::get<StderrRing::Query>(
      parse_build_log_arguments(R"json({"lines":20000,"grep":"x"})json"));
  EXPECT_EQ(read.lines, 20000u);
  EXPECT_EQ(read.grep, "x");
  EXPECT_EQ(std::get<ArgumentError>(parse_build_log_arguments(R"json({"lines":20001})json")),
            "lines must be a whole number from 1 to 20000");
}

}  // namespace
}  // namespace sitter
