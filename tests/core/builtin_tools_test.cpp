#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/bridge/tools.hpp"

namespace sitter {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
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
  EXPECT_THAT(properties(Builtin::kill), ElementsAre("restart", "scope"));
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
}

struct Set {
  bool script = false, watch = false, binary = false, build = false;
};

BridgeConfig config_with(ServerKind kind, Set set) {
  BridgeConfig config;
  config.kind = kind;
  if (kind == ServerKind::elsewhere) config.url = "http://127.0.0.1:8000/mcp";
  if (set.watch) config.watch_patterns = {"src"};
  if (set.build) config.build_command = "make";
  config.watches_binary = set.binary;
  config.needs_no_build = set.script;
  return config;
}

/// A daemon that a command starts.
BridgeConfig config_of_daemon(Set set) {
  BridgeConfig config = config_with(ServerKind::process, set);
  config.url = "http://127.0.0.1:8000/mcp";
  config.daemon_command = "./daemon";
  return config;
}

/// The lines of the table of docs/edits.md about an edit, without its head.
std::vector<std::string> documented_edits() {
  std::ifstream page(SITTER_EDITS_PAGE);
  std::vector<std::string> rows;
  bool is_table = false;
  for (std::string line; std::getline(page, line);) {
    is_table = line.starts_with("| what is set |") || (is_table && line.starts_with("|"));
    if (is_table) rows.push_back(line);
  }
  rows.erase(rows.begin(), rows.begin() + std::min<std::ptrdiff_t>(2, std::ssize(rows)));
  return rows;
}

/// One line for all that leads to the same texts.
class EditTable {
 public:
  void add(const std::string& set, const BridgeConfig& config) {
    const BuiltinNames names = Tools::names(config);
    const std::string description = json::parse(names.definitions()[1])["description"];
    const std::string hint = names.old_code_hint();
    const std::string all = names.instructions();
    const auto begin = all.find(". ") + 2;
    const std::string texts =
        fmt::format("{} | {} | {}", all.substr(begin, all.find(" sitter_status shows") - begin),
                    description, hint.empty() ? "none" : hint);
    const auto [found, is_new] = sets_.try_emplace(texts, set);
    if (is_new) {
      order_.push_back(found);
    } else {
      found->second += "; " + set;
    }
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& one : order_) {
      lines.push_back(fmt::format("| {} | {} |", one->second, one->first));
    }
    return lines;
  }

 private:
  std::map<std::string, std::string> sets_;
  std::vector<std::map<std::string, std::string>::iterator> order_;
};

TEST(AfterEditTest, TheDocsShowWhatTheModelReadsWhateverIsSet) {
  EditTable table;
  const auto spanned = [](const std::string& options) {
    return options.empty() ? "" : fmt::format(" `{}`", options.substr(1));
  };
  for (const bool build : {false, true}) {
    for (const bool watch : {false, true}) {
      const std::string with = std::string(watch ? " --watch" : "") + (build ? " --build" : "");
      for (const bool binary : {false, true}) {
        const std::string more = (binary ? " --watch-binary" : "") + with;
        table.add("compiled" + spanned(more),
                  config_with(ServerKind::process, {false, watch, binary, build}));
        table.add("script" + spanned(more),
                  config_with(ServerKind::process, {true, watch, binary, build}));
        table.add(fmt::format("`--http{}` with a command", more),
                  config_of_daemon({false, watch, binary, build}));
      }
      // Without --watch, a tool's own file and its description are watched.
      table.add(fmt::format("`--cli{}`", with),
                config_with(ServerKind::tool, {false, true, !watch, build}));
    }
  }
  table.add("`--http` alone", config_with(ServerKind::elsewhere, {}));
  EXPECT_THAT(documented_edits(), ElementsAreArray(table.lines()));
}

TEST(BuiltinNamesTest, SayWhatToCallAfterAnEditUnderItsChosenName) {
  const BuiltinNames offered = names_with(true, {{Builtin::rebuild, "recompile"}});
  EXPECT_THAT(offered.instructions(),
              HasSubstr("After an edit, call recompile; it builds and restarts"));
  EXPECT_THAT(offered.definitions()[1], HasSubstr("After an edit, call recompile instead."));
}

TEST(BuiltinNamesTest, NameNoToolThatIsNotOffered) {
  for (const bool script : {false, true}) {
    BridgeConfig config = config_with(ServerKind::process, {script});
    config.tools = {Builtin::status};
    EXPECT_THAT(Tools::names(config).instructions(), Not(HasSubstr("edit")));
  }
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
