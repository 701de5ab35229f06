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

/// What a model reads about an edit of the server, whatever is set.
struct AfterEdit {
  std::string set;
  BridgeConfig config;
  std::string instructions;
  std::string kill;

  friend void PrintTo(const AfterEdit& one, std::ostream* out) { *out << one.set; }
};

BridgeConfig config_with(ServerKind kind, bool watches, bool builds, bool needs_no_build,
                         bool watches_binary = false) {
  BridgeConfig config;
  config.kind = kind;
  if (kind == ServerKind::elsewhere) config.url = "http://127.0.0.1:8000/mcp";
  if (watches) config.watch_patterns = {"src"};
  config.watches_binary = watches_binary;
  if (builds) config.build_command = "make";
  config.needs_no_build = needs_no_build;
  return config;
}

/// A daemon that a command starts.
BridgeConfig config_of_daemon(bool watches) {
  BridgeConfig config = config_with(ServerKind::process, watches, false, false);
  config.url = "http://127.0.0.1:8000/mcp";
  config.daemon_command = "./daemon";
  return config;
}

class AfterEditTest : public ::testing::TestWithParam<AfterEdit> {};

TEST_P(AfterEditTest, TheModelReadsHowItTakesEffect) {
  const BuiltinNames names = Tools::names(GetParam().config);
  EXPECT_THAT(names.instructions(),
              HasSubstr("behind mcp-sitter." + GetParam().instructions + " sitter_status"));
  EXPECT_EQ(json::parse(names.definitions()[1])["description"], GetParam().kill);
}

constexpr char kStops[] = "Stops the server under development; the next request starts it.";
constexpr char kNoSaveStarts[] =
    " sitter_kill stops the server; no save starts it, the next call does.";

INSTANTIATE_TEST_SUITE_P(
    , AfterEditTest,
    ::testing::Values(
        AfterEdit{"compiled", config_with(ServerKind::process, false, false, false),
                  R"( After an edit, call sitter_kill and build; the next call starts the new )"
                  R"(code, and so does sitter_kill {"restart": true}, which says which tools )"
                  "changed.",
                  std::string(kStops) + " Call it after an edit, or to unlock the binary."},
        AfterEdit{"interpreted", config_with(ServerKind::process, false, false, true),
                  R"( After an edit, call sitter_kill {"restart": true}; it starts the new code )"
                  "and says which tools changed.",
                  std::string(kStops) + " After an edit, restart it."},
        AfterEdit{"--build", config_with(ServerKind::process, false, true, false),
                  " After an edit, call sitter_rebuild; it builds and restarts the server. "
                  "sitter_kill stops the server; the next call starts it again.",
                  std::string(kStops) + " After an edit, call sitter_rebuild instead."},
        AfterEdit{"interpreted, --build", config_with(ServerKind::process, false, true, true),
                  " After an edit, call sitter_rebuild; it builds and restarts the server. "
                  "sitter_kill stops the server; the next call starts it again.",
                  std::string(kStops) + " After an edit, call sitter_rebuild instead."},
        AfterEdit{"--watch", config_with(ServerKind::process, true, false, true),
                  std::string(" A save restarts the server, and calls wait for the new code.") +
                      kNoSaveStarts,
                  std::string(kStops) + " Not needed after an edit: a change restarts the server."},
        AfterEdit{
            "compiled, --watch", config_with(ServerKind::process, true, false, false),
            std::string(" A change of a watched file restarts the server, but builds nothing: "
                        "after an edit, build, and then restart it.") +
                kNoSaveStarts,
            std::string(kStops) + " Restart it after a build."},
        AfterEdit{"interpreted, --watch --build",
                  config_with(ServerKind::process, true, true, true),
                  std::string(" A save builds and restarts the server, and calls wait for the new "
                              "code. sitter_rebuild builds at once and shows the errors.") +
                      kNoSaveStarts,
                  std::string(kStops) + " Not needed after an edit: a change restarts the server."},
        AfterEdit{"interpreted, --watch-binary",
                  config_with(ServerKind::process, false, false, true, true),
                  std::string(" A save of the server's own file restarts it, and calls wait for "
                              "the new code.") +
                      kNoSaveStarts,
                  std::string(kStops) + " Not needed after an edit: a change restarts the server."},
        AfterEdit{"--http -- COMMAND", config_of_daemon(false),
                  R"( After an edit, call sitter_kill and build; the next call starts the new )"
                  R"(code, and so does sitter_kill {"restart": true}, which says which tools )"
                  "changed.",
                  std::string(kStops) + " Call it after an edit, or to unlock the binary."},
        AfterEdit{
            "--http --watch -- COMMAND", config_of_daemon(true),
            std::string(" A change of a watched file restarts the server, but builds nothing: "
                        "after an edit, build, and then restart it.") +
                kNoSaveStarts,
            std::string(kStops) + " Restart it after a build."},
        AfterEdit{"--watch --build", config_with(ServerKind::process, true, true, false),
                  std::string(" A save builds and restarts the server, and calls wait for the new "
                              "code. sitter_rebuild builds at once and shows the errors.") +
                      kNoSaveStarts,
                  std::string(kStops) + " Not needed after an edit: a change restarts the server."},
        AfterEdit{"--watch-binary", config_with(ServerKind::process, false, false, false, true),
                  std::string(" After an edit, build: a new file of the server restarts it, and "
                              "calls wait for it.") +
                      kNoSaveStarts,
                  std::string(kStops) + " Not needed after an edit: a change restarts the server."},
        AfterEdit{"--watch-binary --build",
                  config_with(ServerKind::process, false, true, false, true),
                  " After an edit, call sitter_rebuild; it builds and restarts the server. "
                  "sitter_kill stops the server; the next call starts it again.",
                  std::string(kStops) + " After an edit, call sitter_rebuild instead."},
        AfterEdit{"--http", config_with(ServerKind::elsewhere, false, false, false),
                  " After an edit, restart the server where it was started; calls wait for it.",
                  "Ends the session with the server under development, not the server, which was "
                  "started elsewhere. The next request opens another session."},
        AfterEdit{"--cli", config_with(ServerKind::tool, false, false, false, true),
                  " Each call runs the tool anew, so an edit counts from the next call on. "
                  "sitter_kill ends the calls that are running.",
                  "Ends all running calls of the tool under development. The next call reads its "
                  "description again."},
        AfterEdit{"--cli --watch", config_with(ServerKind::tool, true, false, false),
                  " Each call runs the tool anew, so an edit counts from the next call on. "
                  "sitter_kill ends the calls that are running.",
                  "Ends all running calls of the tool under development. The next call reads its "
                  "description again."},
        AfterEdit{"--cli --build", config_with(ServerKind::tool, false, true, false, true),
                  " After an edit, call sitter_rebuild; it builds and restarts the server. "
                  "sitter_kill ends the calls that are running.",
                  "Ends all running calls of the tool under development. The next call reads its "
                  "description again."},
        AfterEdit{"--cli --watch --build", config_with(ServerKind::tool, true, true, false),
                  " A save builds and restarts the server, and calls wait for the new code. "
                  "sitter_rebuild builds at once and shows the errors. sitter_kill ends the calls "
                  "that are running.",
                  "Ends all running calls of the tool under development. The next call reads its "
                  "description again."}));

TEST(BuiltinNamesTest, SayWhatToCallAfterAnEditUnderItsChosenName) {
  const BuiltinNames offered = names_with(true, {{Builtin::rebuild, "recompile"}});
  EXPECT_THAT(offered.instructions(),
              HasSubstr("After an edit, call recompile; it builds and restarts"));
  EXPECT_THAT(offered.definitions()[1], HasSubstr("After an edit, call recompile instead."));
}

TEST(BuiltinNamesTest, NameNoToolThatIsNotOffered) {
  for (const bool needs_no_build : {false, true}) {
    BridgeConfig config = config_with(ServerKind::process, false, false, needs_no_build);
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
