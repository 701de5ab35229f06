#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/cli_tool.hpp"
#include "support/processes.hpp"
#include "support/program.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CliReload : public CliToolTest {
 protected:
  /// A file of descriptions that is there at once.
  void put(const std::string& name, const std::string& text) const {
    directory_.write("unfinished", text);
    std::filesystem::rename(directory_ / "unfinished", directory_ / name);
  }
};

const std::string kAdd = tool("add", R"json("cli_command":["{text}"])json");
const std::string kDrop = tool("drop", R"json("cli_command":["drop"])json");
constexpr const char* kShowWords = "printf '[%s]' \"$@\"";

// ---- reloads that somebody asks for

TEST_F(CliReload, AHangupSignalReadsTheDescriptionAgain) {
  write(kAdd, kShowWords);
  ScriptedClient client(setup({"--watch", "none"}));
  client.open();
  write(kAdd + "," + kDrop, kShowWords);
  client.program().signal(SIGHUP);
  client.heard("notifications/tools/list_changed");
  EXPECT_THAT(client.text_of_call("drop"), HasSubstr("[drop]"));
}

TEST_F(CliReload, CtlReadsTheDescriptionAgain) {
  write(kAdd, kShowWords);
  const TemporaryDirectory runtime;
  ScriptedClient::Setup chosen = setup({"--watch", "none"});
  chosen.environment = {"XDG_RUNTIME_DIR=" + runtime.path(), "TMPDIR=" + runtime.path()};
  ScriptedClient client(chosen);
  client.open();
  client.status();  // the socket exists after the first answer
  write(kAdd + "," + kDrop, kShowWords);
  Program reload(
      {.command = {sitter_program(), "ctl", "reload"}, .environment = chosen.environment});
  reload.close_input();
  std::string said;
  for (const std::string& line : reload.read_all()) said += line + "\n";
  EXPECT_EQ(reload.wait(), 0);
  EXPECT_THAT(said, HasSubstr("+1 added (drop)"));
  EXPECT_THAT(client.text_of_call("drop"), HasSubstr("[drop]"));
}

TEST_F(CliReload, ARebuildBuildsTheToolAndReadsItsDescriptionAgain) {
  write(kAdd, kShowWords);
  directory_.write("next", "");
  ScriptedClient client(setup({"--watch", "none", "--build", "echo building; sh ./next"}));
  client.open();
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "[milk]");
  directory_.write("next", "sed 's/\"drop\"/\"remove\"/g' tool >made; chmod +x made; mv made tool");
  write(kAdd + "," + kDrop, kShowWords);
  EXPECT_THAT(client.text_of_call("sitter_rebuild"),
              AllOf(HasSubstr("the build succeeded"), HasSubstr("tools read again (#2)"),
                    HasSubstr("+1 added (remove)"), HasSubstr("building")));
  EXPECT_EQ(client.text_of_call("remove"), "[remove]");
  directory_.write("next", "echo 'tool.c:1: error: no' >&2; exit 1");
  EXPECT_THAT(client.text_of_call("sitter_rebuild"), HasSubstr("tool.c:1: error: no"));
  EXPECT_EQ(client.text_of_call("remove"), "[remove]");
}

// ---- reloads after a save

TEST_F(CliReload, SavingAWatchedSourceReloadsTheDescription) {
  directory_.write("src/tools.json", description(kAdd));
  directory_.write_script(
      "tool", "test \"$1\" = schema && exec cat src/tools.json\n" + std::string(kShowWords));
  ScriptedClient client(setup({"--watch", "src"}));
  client.open();
  put("src/tools.json", description(kAdd + "," + kDrop));
  client.heard("notifications/tools/list_changed");
  EXPECT_THAT(client.text_of_call("drop"), HasSubstr("[drop]"));
}

TEST_F(CliReload, AFileOfDescriptionsIsReadAgainWhenItIsReplaced) {
  const TemporaryDirectory elsewhere;
  // The characters of patterns have no meaning in the name of a file.
  for (const std::string& file :
       {elsewhere / "tools.json", std::string("tools.json"), std::string("sub/tools.json"),
        elsewhere / "a [b] *.json", std::string("!tools.json"), std::string("#tools.json"),
        "../" + std::filesystem::path(elsewhere.path()).filename().string() + "/up.json"}) {
    const std::filesystem::path place = std::filesystem::path(directory_.path()) / file;
    std::filesystem::create_directories(place.parent_path());
    const auto replace = [&](const std::string& tools) {
      const std::string next = directory_.write("next", description(tools));
      std::filesystem::rename(next, place);
    };
    directory_.write_script("tool", kShowWords);
    replace(kAdd);
    ScriptedClient client(setup({"--schema-file", file}));
    client.open();
    replace(kAdd + "," + kDrop);
    client.heard("notifications/tools/list_changed");
    EXPECT_THAT(client.text_of_call("drop"), HasSubstr("[drop]")) << file;
  }
}

TEST_F(CliReload, ADescriptionThatBreaksIsToldOnceAndTheLastGoodOneStays) {
  directory_.write_script("tool", kShowWords);
  put("tools.json", description(kAdd));
  ScriptedClient client(setup({"--schema-file", "tools.json"}));
  client.open();
  EXPECT_EQ(client.text_of_call("add", {{"text", "a"}}), "[a]");
  put("tools.json", "{\"tools\":[\n  {]}");
  ASSERT_TRUE(client.program().shows_error("it is not JSON"));
  EXPECT_THAT(
      client.text_of_call("add", {{"text", "b"}}),
      AllOf(StartsWith("[mcp-sitter] "), HasSubstr("[b]"),
            HasSubstr("the description of tools.json cannot be used: it is not JSON; line 2 "
                      "has a mistake at character 4")));
  EXPECT_EQ(client.text_of_call("add", {{"text", "c"}}), "[c]");
  EXPECT_THAT(client.status().dump(), HasSubstr("it is not JSON"));

  put("tools.json", description(kAdd + "," + kDrop));
  client.heard("notifications/tools/list_changed");
  EXPECT_THAT(client.text_of_call("drop"),
              AllOf(HasSubstr("+1 added (drop)"), HasSubstr("[drop]")));
  EXPECT_EQ(client.text_of_call("drop"), "[drop]");
}

TEST_F(CliReload, AFileOfDescriptionsMayGoAndComeBack) {
  directory_.write_script("tool", kShowWords);
  put("tools.json", description(kAdd));
  ScriptedClient client(setup({"--schema-file", "tools.json"}));
  client.open();
  std::filesystem::remove(directory_ / "tools.json");
  ASSERT_TRUE(client.program().shows_error("tools.json could not be read: no such file"));
  EXPECT_THAT(client.text_of_call("add", {{"text", "a"}}), HasSubstr("[a]"));
  put("tools.json", description(kDrop));
  client.heard("notifications/tools/list_changed");
  EXPECT_THAT(client.text_of_call("drop"), HasSubstr("[drop]"));
}

TEST_F(CliReload, AnInterpreterRunsTheTool) {
  const auto script = [](const std::string& tools) {
    return "import json, sys\nif sys.argv[1:] == ['schema', '--json']:\n  print('''" +
           description(tools) + "''')\nelse:\n  print(json.dumps({'words': sys.argv[1:]}))\n";
  };
  put("notes.py", script(kAdd));
  ScriptedClient client(
      {.options = {"--cli", "python3 notes.py"}, .command = {}, .cwd = directory_.path()});
  EXPECT_EQ(client.open()["serverInfo"]["name"], "notes");
  EXPECT_EQ(client.result_of("add", {{"text", "a b"}})["structuredContent"],
            Json({{"words", {"a b"}}}));
  put("notes.py", script(kAdd + "," + kDrop));
  client.heard("notifications/tools/list_changed");
  EXPECT_THAT(client.text_of_call("drop"), HasSubstr("\"drop\""));
}

// ---- what a run leaves behind

TEST_F(CliReload, ADaemonOfARunIsLeftAloneAndHoldsUpNoAnswer) {
  for (const std::string redirected : {" >/dev/null 2>&1 </dev/null", ""}) {
    std::filesystem::remove(directory_ / "daemon");
    write(tool("begin", R"json("cli_command":["begin"])json"),
          "setsid sh -c 'echo $$ >daemon; exec sleep 1000'" + redirected +
              " &\nwhile ! test -s daemon; do sleep 0.01; done; printf begun");
    ScriptedClient client(setup());
    client.open();
    EXPECT_EQ(client.text_of_call("begin"), "begun");
    client.expect_left_alone(number_in(directory_ / "daemon"));
  }
}

TEST_F(CliReload, ABackgroundProcessOfARunEndsWithIt) {
  write(tool("begin", R"json("cli_command":["begin"])json"),
        "sh -c 'echo $$ >background; exec sleep 1000' &\n"
        "while ! test -s background; do sleep 0.01; done; printf begun");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("begin"), "begun");
  EXPECT_FALSE(is_alive(number_in(directory_ / "background")));
}

TEST_F(CliReload, ADaemonOfTheDescriptionIsLeftAlone) {
  directory_.write_script(
      "tool",
      "if test \"$1\" = schema; then\n"
      "setsid sh -c 'echo $$ >daemon; exec sleep 1000' >/dev/null 2>&1 </dev/null &\n"
      "while ! test -s daemon; do sleep 0.01; done; echo '" +
          description(kAdd) + "'; exit; fi\n" + kShowWords);
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("add", {{"text", "a"}}), "[a]");
  client.expect_left_alone(number_in(directory_ / "daemon"));
}

}  // namespace
}  // namespace sitter::testing
