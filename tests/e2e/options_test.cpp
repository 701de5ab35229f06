#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/short_run.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Options, HelpGoesToStdout) {
  for (const std::string word : {"--help", "-h"}) {
    const ShortRun run({word});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_TRUE(run.error.empty());
    EXPECT_THAT(run.output,
                AllOf(HasSubstr("--watch PATTERN"), HasSubstr("mcp-sitter [options] --cli TOOL")));
  }
}

TEST(Options, VersionGoesToStdout) {
  for (const std::string word : {"--version", "-V"}) {
    const ShortRun run({word});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(lines_of(run.output), ElementsAre(::testing::StartsWith("mcp-sitter ")));
  }
}

TEST(Options, WhereIsThePathOfTheProgramBehindALink) {
  TemporaryDirectory directory;
  const std::string link = directory / "link";
  std::filesystem::create_symlink(sitter_program(), link);
  const ShortRun run(Program::Start{.command = {link, "--no-notice", "--where"}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, std::filesystem::canonical(sitter_program()).string() + "\n");
  EXPECT_EQ(run.error, "");
}

struct Mistake {
  std::vector<std::string> words;
  std::string named;

  friend void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.named; }
};

class OptionMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(OptionMistake, IsOneSentenceAndExit2) {
  const ShortRun run(GetParam().words);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(run.output.empty());
  EXPECT_THAT(lines_of(run.error),
              ElementsAre(AllOf(HasSubstr("mcp-sitter: "), HasSubstr(GetParam().named))));
}

INSTANTIATE_TEST_SUITE_P(
    , OptionMistake,
    ::testing::Values(
        Mistake{{}, "no command"}, Mistake{{"--"}, "no command"},
        Mistake{{"--no-notice"}, "no command"}, Mistake{{"--", ""}, "no command"},
        Mistake{{"--frobnicate", "x"}, "unknown option --frobnicate; see"},
        Mistake{{"--wacht", "src", "x"}, "unknown option --wacht (did you mean --watch?); see"},
        Mistake{{"--biuld=make", "x"}, "unknown option --biuld (did you mean --build?)"},
        Mistake{{"-x", "server"}, "-x"},
        Mistake{{"hlep"}, "no program hlep; did you mean mcp-sitter help?"},
        Mistake{{"--no-notice", "completions"}, "did you mean mcp-sitter completion?"},
        Mistake{{"docter", "./server"}, "no program docter; did you mean mcp-sitter doctor?"},
        Mistake{{"--env", "PATH=/nonexistent", "init"}, "did you mean mcp-sitter setup?"},
        Mistake{{"version"}, "did you mean mcp-sitter --version?"},
        Mistake{{"versoin"}, "no program versoin; did you mean mcp-sitter --version?"},
        Mistake{{"--versoin"}, "unknown option --versoin (did you mean --version?)"},
        Mistake{{"statsu"}, "did you mean mcp-sitter ctl status?"},
        Mistake{{"status", "dev"}, "did you mean mcp-sitter ctl status?"},
        Mistake{{"--cwd"}, "--cwd"}, Mistake{{"--env", "NOVALUE", "x"}, "NOVALUE"},
        Mistake{{"--env", "=x", "x"}, "=x"},
        Mistake{{"--startup-timeout", "soon", "x"}, "--startup-timeout"},
        Mistake{{"--startup-timeout", "-1", "x"}, "--startup-timeout"},
        Mistake{{"--startup-timeout", "nan", "x"}, "--startup-timeout"},
        Mistake{{"--answer-within", "1h", "x"}, "--answer-within"},
        Mistake{{"--answer-within", "NaN", "x"}, "--answer-within"},
        Mistake{{"--kill-grace", "1.5", "x"}, "'1.5' is not a whole number from 0 to 60000"},
        Mistake{{"--stderr-lines", "0", "x"}, "--stderr-lines"},
        Mistake{{"--log-level", "loud", "x"}, "loud"},
        Mistake{{"--no-notice=1", "x"}, "--no-notice"}, Mistake{{"--build", "", "x"}, "--build"},
        Mistake{{"--build-cwd", "/", "x"}, "--build-cwd"},
        Mistake{{"--on-busy", "never", "x"}, "never"},
        Mistake{{"--name", "12", "x"}, "'12' is not a valid name"},
        Mistake{{"--name", "a b", "x"}, "'a b' is not a valid name"},
        Mistake{{"--name", "a\u009B31mb\u202Ec\x7F\u2028 d", "x"}, "'abc  d' is not a valid name"},
        Mistake{{"--replay-call", "", "x"}, "the name of the tool is empty"},
        Mistake{{"--cwd", "~/x", "y"}, "no shell has expanded the ~ in '~/x': write"},
        Mistake{{"--env-file=~/x", "y"}, "no shell has expanded the ~ in '~/x': write"},
        Mistake{{"--watch", "~/x", "y"}, "no shell has expanded the ~ in '~/x': write"},
        Mistake{{"--watch", "", "x"}, "an empty pattern"},
        Mistake{{"--watch", "!", "x"}, "an empty pattern"},
        Mistake{{"--watch", "!a", "--watch", "!b", "--watch-binary", "x"},
                "--watch: '!a' only excludes files: put a --watch that names some before it, as in "
                "--watch ."},
        Mistake{{"--fresh-wait", "-1", "x"}, "--fresh-wait"},
        Mistake{{"--debounce", "60001", "x"}, "'60001' is not a whole number from 0 to 60000"},
        Mistake{{"--tool-name", "rebuild", "x"}, "'rebuild' is not TOOL=NAME"},
        Mistake{{"--tool-name", "rebuild=", "x"}, "'' is not a valid name for a tool"},
        Mistake{{"--tool-name", "build=x", "x"}, "there is no tool 'build'"},
        Mistake{{"--tool-name", "kill=a b", "x"}, "'a b' is not a valid name for a tool"},
        Mistake{{"--tool-name", "kill=sitter_status", "x"},
                "two tools would be called 'sitter_status'"},
        Mistake{{"--tools", "status,bu\nild", "x"}, "there is no tool 'bu ild'"},
        Mistake{{"--tools", "status,rebuild", "x"},
                "--tools: sitter_rebuild needs --build: add it, or leave the tool out"},
        Mistake{{"--tools", "sitter_build_log", "x"}, "sitter_build_log needs --build"},
        Mistake{{"--tools", "status,call", "--call-tool", "off", "x"},
                "--tools: sitter_call is not offered with --call-tool off: leave out one of them"},
        Mistake{{"--log-file", "/dev/null/l\u009B31m\u202Eog", "--", "x"}, "/dev/null/log can't"}));

TEST(Options, ToolsAreOfferedWithTheOptionsThatTheyNeed) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--tools", "rebuild,build_log", "--build", "true"},
        {"--tools", "call"},
        {"--tools", "call", "--call-tool", "on"}}) {
    ScriptedClient client({.options = options});
    client.open();
    EXPECT_EQ(client.end(), 0);
  }
}

TEST(Options, AnExclusionMayFollowAPatternThatNamesFiles) {
  ScriptedClient client({.options = {"--watch", "/nowhere", "--watch", "!a"}});
  client.open();
  EXPECT_EQ(client.end(), 0);
}

TEST(Options, AWrongValueIsShownInPart) {
  const std::string value(50'000, 'x');
  for (const std::string option : {"--env", "--kill-grace", "--startup-timeout", "--log-level",
                                   "--name", "--tools", "--tool-name"}) {
    const ShortRun run({option, value, "x"});
    EXPECT_THAT(lines_of(run.error), ElementsAre(AllOf(HasSubstr(option), HasSubstr("xxx… ["),
                                                       HasSubstr("see mcp-sitter --help"))));
    EXPECT_LT(run.error.size(), 1000u) << option;
  }
  for (const std::string& word : {"--" + value, "--tool-name=" + value + "=x",
                                  "--tool-name=kill=" + value, "--no-notice=" + value}) {
    const ShortRun run({word, "x"});
    ASSERT_THAT(lines_of(run.error), ElementsAre(HasSubstr("mcp-sitter: ")));
    EXPECT_LT(run.error.size(), 1000u);
  }
}

TEST(Options, ACommandAfterTheDashesIsACommandWhateverItsName) {
  TemporaryDirectory directory;
  directory.write_script("ctl", "exec " + fake_in_shell("--name ctl"));
  directory.write_script("--version", "exec " + fake_in_shell("--name odd"));
  for (const auto& [command, name] : {std::pair("ctl", "ctl"), std::pair("--version", "odd")}) {
    ScriptedClient client(
        {.options = {"--env", "PATH=" + directory.path() + ":/bin"}, .command = {command}});
    EXPECT_EQ(client.open()["serverInfo"]["name"], name);
  }
}

TEST(Options, AllAfterTheCommandBelongsToIt) {
  TemporaryDirectory directory;
  const std::string seen = directory / "seen";
  const std::string server =
      directory.write_script("server", "for word; do printf '[%s]' \"$word\"; done >'" + seen +
                                           "'; exec " + fake_in_shell());
  const std::vector<std::string> words = {"--help", "--", "-x", "", "a b", "--cwd", "*", "é"};
  {
    ScriptedClient client({.command = [&] {
      std::vector<std::string> command = {server};
      command.insert(command.end(), words.begin(), words.end());
      return command;
    }()});
    client.open();
    EXPECT_EQ(client.status()["childArgs"], Json(words));
  }
  EXPECT_EQ(contents_of(seen), "[--help][--][-x][][a b][--cwd][*][é]");

  // The command also gets its words without the dashes.
  Program program({.command = {sitter_program(), "--no-notice", server, "--help", "--version"}});
  program.write(
      R"json({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})json"
      "\n");
  EXPECT_THAT(program.read_line().value_or(""), HasSubstr("fake-mcp"));
  program.close_input();
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(contents_of(seen), "[--help][--version]");
}

TEST(Options, ValuesMayStandBehindAnEqualsSign) {
  ScriptedClient client({.options = {"--env=SITTER_X=a=b", "--kill-grace=20"}});
  client.open();
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_X"}}), "a=b");
}

TEST(Options, EnvironmentIsAddedInOrder) {
  TemporaryDirectory directory;
  const std::string file = directory.write(
      "env", "\n# comment\nSITTER_A=file\nSITTER_B=\"quoted $HOME\"\nexport SITTER_C=exported\n");
  ScriptedClient client({.options = {"--env", "SITTER_A=first", "--env-file", file, "--env",
                                     "SITTER_A=option", "--env", "SITTER_D="},
                         .environment = {"SITTER_A=inherited", "SITTER_E=inherited"}});
  client.open();
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_A"}}), "option");
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_B"}}), "quoted $HOME");
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_D"}}), "");
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_E"}}), "inherited");
}

TEST(Options, WorkingDirectoryIsThatOfTheChild) {
  TemporaryDirectory directory;
  ScriptedClient client({.options = {"--cwd", directory.path()}});
  client.open();
  EXPECT_EQ(client.child_state()["cwd"], directory.path());
}

TEST(Options, LogGoesToTheFile) {
  TemporaryDirectory directory;
  const std::string file = directory / "log";
  ScriptedClient client({.options = {"--log-file", file, "--log-level", "info"}});
  client.open();
  client.result_of("crash", {{"code", 9}});
  EXPECT_EQ(client.end(), 0);
  EXPECT_THAT(contents_of(file), AllOf(HasSubstr("child 1 started"), HasSubstr("exit 9")));
  EXPECT_EQ(client.program().error_text(), "");
}

TEST(Options, LogGoesToStderrFromWarningsOn) {
  ScriptedClient client;
  client.open();
  client.result_of("crash", {{"code", 9}});
  EXPECT_TRUE(client.program().shows_error("[mcp-sitter] warning: child 1"));
  EXPECT_THAT(client.program().error_text(), Not(HasSubstr("info")));
}

TEST(Options, LogCanBeSwitchedOff) {
  ScriptedClient client({.options = {"--log-level", "off"}});
  client.open();
  client.text_of_call("stderr", {{"text", "of the child"}});
  // On a busy machine, the short wait at the end may be too short to write the line.
  EXPECT_TRUE(client.program().shows_error("of the child\n"));
  client.result_of("crash", {{"code", 9}});
  EXPECT_EQ(client.end(), 0);
  EXPECT_EQ(client.program().error_text(), "of the child\n");
}

TEST(Options, TraceShowsEveryLine) {
  ScriptedClient client({.options = {"--log-level", "trace"}});
  client.open();
  client.text_of_call("echo", {{"text", "look at this"}});
  EXPECT_TRUE(client.program().shows_error("look at this"));
}

TEST(Options, StderrRingHasTheWantedSize) {
  ScriptedClient client({.options = {"--stderr-lines", "5"}});
  client.open();
  client.text_of_call("stderr", {{"text", "line"}, {"lines", 50}});
  EXPECT_THAT(client.stderr_with("line 50"),
              AllOf(HasSubstr("line 46"), HasSubstr("line 50"), Not(HasSubstr("line 45"))));
}

}  // namespace
}  // namespace sitter::testing
