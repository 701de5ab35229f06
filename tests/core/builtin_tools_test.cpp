#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/bridge/tools.hpp"

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

std::string definition(Builtin builtin, std::string_view name) {
  return Tools::definition(builtin).definition(name);
}

/// The names with these tools for builds, chosen names and allowed tools.
BuiltinNames names_with(bool has_build, std::map<Builtin, std::string> chosen = {},
                        std::set<Builtin> allowed = {kBuiltins.begin(), kBuiltins.end()}) {
  BridgeConfig config;
  if (has_build) config.build_command = "make";
  config.tool_names = std::move(chosen);
  config.tools = std::move(allowed);
  return Tools::names(config);
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

TEST(BuiltinDefinitionTest, HintsWhichToolsAreDestructive) {
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

TEST(BuiltinNamesTest, HaveNoPrefixUntilTheChildIsKnown) {
  EXPECT_THAT(names(Tools::names({})), ElementsAre("sitter_status", "sitter_kill",
                                                   "sitter_binary_info", "sitter_child_stderr"));
}

TEST(BuiltinNamesTest, ArePrefixedUntilTheNameIsFree) {
  BuiltinNames offered = names_with(false);
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
  BuiltinNames offered = names_with(true, {}, {Builtin::kill, Builtin::rebuild});
  EXPECT_THAT(names(offered), ElementsAre("sitter_kill", "sitter_rebuild"));
  offered.offer(Builtin::call);
  EXPECT_FALSE(offered.offers(Builtin::call));
  EXPECT_EQ(offered.find("sitter_status"), std::nullopt);
  EXPECT_THAT(offered.instructions(),
              AllOf(HasSubstr("sitter_kill"), Not(HasSubstr("sitter_status"))));
}

TEST(BuiltinNamesTest, AToolThatIsNotOfferedHasNoName) {
  const BuiltinNames offered =
      names_with(true, {{Builtin::kill, "stop"}}, {Builtin::kill, Builtin::build_log});
  EXPECT_EQ(offered.name(Builtin::rebuild), "");
  EXPECT_EQ(offered.first_name({Builtin::rebuild, Builtin::kill, Builtin::build_log}), "stop");
  EXPECT_EQ(offered.first_name({Builtin::rebuild, Builtin::status}), "");
}

TEST(BuiltinNamesTest, ThoseForBuildsComeWithABuildCommand) {
  EXPECT_THAT(names(names_with(true)),
              ElementsAre("sitter_status", "sitter_kill", "sitter_binary_info",
                          "sitter_child_stderr", "sitter_rebuild", "sitter_build_log"));
  EXPECT_THAT(names_with(true).instructions(),
              HasSubstr("After an edit, call sitter_rebuild; it builds and restarts"));
}

TEST(BuiltinNamesTest, SayWhatToCallAfterAnEdit) {
  EXPECT_THAT(Tools::names({}).instructions(), HasSubstr("After an edit, call sitter_kill;"));
  EXPECT_THAT(Tools::names({}).definitions()[1], HasSubstr("after an edit"));
  const BuiltinNames offered = names_with(true, {{Builtin::rebuild, "recompile"}});
  EXPECT_THAT(offered.instructions(),
              HasSubstr("After an edit, call recompile; it builds and restarts"));
  EXPECT_THAT(offered.definitions()[1], HasSubstr("After an edit, call recompile instead."));
}

TEST(BuiltinNamesTest, MayBeChosen) {
  BuiltinNames offered = names_with(true, {{Builtin::rebuild, "recompile"}});
  EXPECT_EQ(offered.name(Builtin::rebuild), "recompile");
  EXPECT_EQ(offered.find("recompile"), Builtin::rebuild);
  EXPECT_EQ(offered.find("sitter_rebuild"), std::nullopt);
  const std::vector<std::string> taken = {"recompile"};
  offered.make_way_for(taken);
  EXPECT_EQ(offered.name(Builtin::rebuild), "outer_recompile");
}

TEST(BuiltinNamesTest, LoseThePrefixWhenTheChildsToolIsGone) {
  BuiltinNames offered = names_with(false);
  offered.make_way_for(std::vector<std::string>{"sitter_status"});
  offered.make_way_for({});
  EXPECT_EQ(offered.find("sitter_status"), Builtin::status);
}

}  // namespace
}  // namespace sitter
