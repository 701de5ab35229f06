#include "support/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/cli_examples.hpp"
#include "support/http_daemon.hpp"
#include "support/terminal.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Doctor : public DoctorTest {};

TEST_F(Doctor, AHealthyServerIsOk) {
  std::vector<std::string> words = {"--"};
  for (const std::string& word : fake({"--everything", "--era", "dual"})) words.push_back(word);
  const Run run = this->run(words);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.error, IsEmpty());
  const std::vector<std::string> lines = lines_of(run.output);
  ASSERT_EQ(lines.size(), 11) << run.output;
  EXPECT_EQ(lines.back(), "10 ok, 0 warnings, 0 problems");
  EXPECT_THAT(std::vector(lines.begin(), lines.end() - 1), Each(StartsWith("ok      ")));
  EXPECT_THAT(lines[0], HasSubstr(fake_mcp()));
}

TEST_F(Doctor, JsonSaysWhatTheServerIs) {
  const Run run = run_fake({"--everything", "--name", "notes", "--era", "dual"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  const Json json = run.json();
  EXPECT_EQ(json["server"]["path"], fake_mcp());
  EXPECT_EQ(json["server"]["name"], "notes");
  EXPECT_EQ(json["opening"]["initialize"], "2025-11-25");
  EXPECT_EQ(json["opening"]["stateless"], true);
  EXPECT_THAT(json["opening"]["capabilities"], Contains("resources (subscribe)"));
  EXPECT_GT(json["tools"]["bytes"], 1000);
  EXPECT_EQ(json["lists"]["tools/list"]["count"], json["tools"]["count"]);
  EXPECT_EQ(json["lists"]["prompts/list"]["count"], 2);
  EXPECT_EQ(json["end"]["endsBy"], "stdin closed");
  EXPECT_EQ(json["end"]["endsAtSigterm"], true);
  EXPECT_EQ(json["problems"], 0);
}

TEST_F(Doctor, ToolsOfAllPagesCount) {
  EXPECT_EQ(run_fake({"--pages", "5"}).json()["tools"], run_fake({}).json()["tools"]);
}

TEST_F(Doctor, FaultsOfTheServerAreFound) {
  struct Case {
    std::vector<std::string> flags;
    std::string finding;
    std::string subject;
    std::string words;
  };
  const std::string schema =
      directory_.write("tools.json", R"json([{"name":"add","inputSchema":{}}])json");
  const std::vector<Case> cases = {
      {{"--stdout-at-start", "hello"}, "problem stdout", "stdout", "\"hello\""},
      {{"--stderr", "ready"}, "ok stderr", "stderr", "\"ready\""},
      {{"--exit-at-start", "3", "--stderr", "no table"}, "problem opening", "opening", "exit 3"},
      {{"--signal-at-start", "SEGV"}, "problem opening", "opening", "SIGSEGV"},
      {{"--close-stdout-on", "initialize"}, "problem opening", "opening", "before it had answered"},
      {{"--error-on", "initialize=-1:no licence"}, "problem opening", "opening", "no licence"},
      {{"--era", "modern"}, "warning eras", "eras", "2026-07-28"},
      {{"--era", "modern", "--discover-without-versions"}, "problem opening", "opening", ""},
      {{"--exit-on", "server/discover"}, "warning eras", "eras", "ends on server/discover"},
      {{"--never-answer", "server/discover"},
       "warning eras",
       "eras",
       "did not answer server/discover in time"},
      {{"--era", "dual", "--discover-without-versions"},
       "warning eras",
       "eras",
       "initialize opens revision 2025-11-25; 2026-07-28 is not spoken"},
      {{"--error-on", "tools/list=-1:no tools today"}, "problem lists", "lists", "no tools today"},
      {{"--exit-on", "tools/list=4"}, "problem lists", "lists", "exit 4"},
      {{"--everything", "--error-on", "resources/templates/list=-32601:no"},
       "warning lists",
       "lists",
       "resources/templates/list fails: no"},
      {{"--raw-answer",
        R"json(initialize={"jsonrpc":"2.0","id":%ID%,"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"a","version":"1"}}})json"},
       "problem opening",
       "opening",
       "protocolVersion \"2099-01-01\" is neither"},
      {{"--no-tools"}, "ok tools", "tools", "has no tools"},
      {{"--tools", schema}, "problem lint", "lint", "inputSchema has no member `type`"},
      {{"--ignore-eof"}, "warning end", "end", "at SIGTERM"},
      {{"--ignore-eof", "--ignore-term"}, "problem end", "end", "ended neither"},
      {{"--ignore-term"}, "warning sigterm", "sigterm", "did not end"},
      {{"--grandchild"}, "warning left-behind", "left-behind", "--grandchild"},
      {{"--grandchild-session"}, "warning left-behind", "left-behind", "1 process "}};
  for (const Case& one : cases) {
    const Run run = run_fake(one.flags);
    SCOPED_TRACE(run.output + run.error);
    EXPECT_THAT(run.outline(), Contains(one.finding));
    EXPECT_THAT(run.about(one.subject), HasSubstr(one.words));
    EXPECT_EQ(run.exit_code, one.finding.starts_with("problem") ? 1 : 0);
  }
}

TEST_F(Doctor, AServerThatEndsBehindItsOpeningIsAProblem) {
  // It depends on the system whether the end is seen in the opening or behind it.
  const Run run = run_fake({"--answer-and-exit", "initialize=5"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("crashed (exit 5)"));
}

TEST_F(Doctor, AServerThatSaysNothingIsGivenUp) {
  const Run run = run_fake({"--never-answer", "initialize"}, {"--startup-timeout", "0.5"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.about("opening"), HasSubstr("0.5s"));
}

TEST_F(Doctor, AListThatIsNotAnsweredIsGivenUp) {
  const Run run = run_fake({"--never-answer", "tools/list"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.about("lists"), HasSubstr("no answer within 10s"));
}

TEST_F(Doctor, AServerOfTheNewEraAloneIsExaminedInIt) {
  const Json json =
      run_fake({"--era", "modern", "--everything", "--ignore-eof", "--stderr", "ready"}).json();
  EXPECT_EQ(json["stderr"]["lines"], 1);
  EXPECT_EQ(json["opening"]["initialize"], nullptr);
  EXPECT_EQ(json["opening"]["opened"], true);
  EXPECT_EQ(json["server"]["name"], "fake-mcp");
  EXPECT_GT(json["tools"]["count"], 10);
  EXPECT_EQ(json["lists"]["prompts/list"]["count"], 2);
  EXPECT_EQ(json["end"]["endsBy"], "SIGTERM");
  EXPECT_EQ(json["end"]["endsAtSigterm"], true);
}

TEST_F(Doctor, TheLastLinesOfStderrAreShown) {
  // A traceback has its reason at the end.
  const Run run = run_json({}, {"sh", "-c", "seq 9 >&2; echo no table >&2; exit 1"});
  EXPECT_THAT(run.about("stderr"),
              HasSubstr(R"(10 lines on stderr, among them: "6", "7", "8", "9", "no table")"));
}

TEST_F(Doctor, ToolsThatOnlyReadAreCalledInABoundedNumber) {
  Json tools = Json::array();
  const auto add = [&](const std::string& name, bool only_reads, Json required) {
    tools.push_back({{"name", name},
                     {"annotations", {{"readOnlyHint", only_reads}}},
                     {"inputSchema", {{"type", "object"}, {"required", std::move(required)}}}});
  };
  add("write", false, Json::array());
  add("find", true, {"text"});
  for (int i = 0; i < 11; ++i) add("read" + std::to_string(i), true, Json::array());
  const std::string file = directory_.write("tools.json", tools.dump());
  const std::string noise = R"json(got {} {"jsonrpc":"2.0","id":%ID%,"result":{"content":[]}})json";
  const Json json = run_fake({"--tools", file, "--raw-answer", "tools/call=" + noise}).json();
  EXPECT_EQ(json["calls"]["called"].size(), 10);
  EXPECT_EQ(json["calls"]["notCalled"], (Json{{"write", "not marked read-only"},
                                              {"find", "needs arguments"},
                                              {"read10", "enough others were called"}}));
  EXPECT_EQ(json["stdout"]["lines"], 10);
  const Json broken = run_fake({"--tools", file, "--exit-on", "tools/call=3"}).json();
  EXPECT_THAT(broken["calls"]["failed"]["read0"].get<std::string>(), HasSubstr("exit 3"));
  EXPECT_EQ(broken["calls"]["notCalled"]["read1"], "a call before it was not answered");
}

TEST_F(Doctor, WhatCannotBeStartedSaysWhyAndWhatToDo) {
  const std::string plain = directory_.write("plain", "text");
  const std::string empty = directory_.write("empty", "", 0755);
  const std::string other = directory_.write("other", "\x01\x02\x03", 0755);
  const std::string orphan = directory_.write("orphan", "#!/no/interpreter\n", 0755);
  struct Case {
    std::vector<std::string> options;
    std::string program, words;
  };
  const std::vector<Case> cases = {{{}, "no-such-program-here", "not found in PATH"},
                                   {{}, directory_ / "nothing", "no such file\nbuild it"},
                                   {{}, plain, "\nrun chmod +x"},
                                   {{}, empty, "empty"},
                                   {{}, other, "not a program for this machine"},
                                   {{}, orphan, "/no/interpreter"},
                                   {{}, directory_.path(), "is a directory"},
                                   {{"--cwd", "/no/directory"}, "true", "/no/directory"},
                                   {{"--env-file", "/no/file"}, "true", "/no/file"}};
  for (const Case& one : cases) {
    const Run run = run_json(one.options, {one.program});
    SCOPED_TRACE(run.output + run.error);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.outline(), ElementsAre("problem file"));
    EXPECT_THAT(run.about("file"), HasSubstr(one.words));
    EXPECT_EQ(run.json()["opening"]["opened"], false);
  }
}

TEST_F(Doctor, AnInterpreterIsNamedBesideItsScript) {
  const std::string script =
      directory_.write_script("server", "exec " + fake_in_shell("--name scripted"));
  const Run run = run_json({}, {script});
  EXPECT_EQ(run.json()["server"]["path"], script);
  EXPECT_THAT(run.json()["server"]["interpreter"].get<std::string>(), HasSubstr("sh"));
  EXPECT_EQ(run.json()["server"]["name"], "scripted");
}

TEST_F(Doctor, ASecondStartThatFailsIsAProblem) {
  const std::string lock = directory_ / "lock";
  const std::string script = directory_.write_script(
      "server", "test -e '" + lock + "' && { echo locked >&2; exit 6; }; : >'" + lock + "'; exec " +
                    fake_in_shell());
  const Run run = run_json({}, {script});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.about("restart"), HasSubstr("exit 6"));
}

TEST_F(Doctor, AStartThatFailsAfterAKilledStartIsAProblem) {
  const std::string lock = directory_ / "lock";
  const std::string script = directory_.write_script(
      "server", "mkdir '" + lock + "' || { echo 'another server runs' >&2; exit 6; }\n" +
                    "trap 'kill $!; exit 0' TERM\ntrap 'rmdir " + lock + "' EXIT\nexec 3<&0\n" +
                    fake_in_shell() + " <&3 &\nwait $!\n");
  const Run run = run_json({}, {script});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.json()["problems"], 1) << run.output;
  EXPECT_THAT(run.about("killed-start"), HasSubstr("another server runs"));
}

TEST_F(Doctor, AnotherServerOfTheSameFileIsLeftAlone) {
  Program other({.command = fake()});
  other.write(R"json({"jsonrpc":"2.0","id":1,"method":"ping"})json"
              "\n");
  ASSERT_THAT(other.read_line().value_or(""), HasSubstr("result"));
  EXPECT_EQ(run_fake({}).exit_code, 0);
  EXPECT_FALSE(other.has_ended());
}

TEST_F(Doctor, OptionsOfTheBridgeCount) {
  directory_.write("vars", "FROM_FILE=yes\n");
  directory_.write_script(
      "server", "test \"$FROM_FILE$FROM_WORDS\" = yesalso || exit 1; exec " + fake_in_shell());
  const Run run = run_json({"--cwd", directory_.path(), "--env-file", directory_ / "vars", "--env",
                            "FROM_WORDS=also", "--build", "exit 1", "--watch", ".", "--name", "a",
                            "--answer-within", "0", "--tools", "status", "--log-level", "trace"},
                           {"./server"});
  EXPECT_EQ(run.exit_code, 0) << run.output << run.error;
}

TEST_F(Doctor, ADaemonThatRunsIsLeftAlone) {
  HttpDaemon daemon({"--everything"});
  daemon.start();
  const Run run = run_json({"--http", daemon.url(), "--header", "X-Key=hidden7"}, {});
  EXPECT_EQ(run.exit_code, 0) << run.output << run.error;
  EXPECT_EQ(run.json()["server"]["kind"], "http");
  EXPECT_EQ(run.json()["end"]["endsBy"], nullptr);
  EXPECT_EQ(run.json()["lists"]["prompts/list"]["count"], 2);
  EXPECT_THAT(run.output, Not(HasSubstr("hidden7")));
  EXPECT_FALSE(daemon.program().has_ended());
}

TEST_F(Doctor, ADaemonThatRefusesOrIsAwayIsAProblem) {
  HttpDaemon daemon;
  const std::vector<std::string> options = {"--http", daemon.url(), "--header", "X-Key=hidden7"};
  EXPECT_THAT(run_json(options, {}).about("opening"), HasSubstr("nothing listens"));
  daemon.start({"--http-status", "*=401:the key hidden7 is old"});
  const Run refused = run_json(options, {});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.about("opening"), AllOf(HasSubstr("401"), HasSubstr("--header-env")));
  EXPECT_THAT(refused.output + refused.error, Not(HasSubstr("hidden7")));
  daemon.kill();
  daemon.start({"--http-status", "*=404"});
  EXPECT_THAT(run_json(options, {}).about("opening"), HasSubstr("404"));
}

TEST_F(Doctor, ADaemonThatWasStartedHereEnds) {
  const HeldPort port;
  const std::string mark = "SITTER_DOCTOR_MARK=" + directory_.path();
  environment_ = {mark};
  const Run run = run_json({"--http", port.url()}, fake({"--http", std::to_string(port.number())}));
  EXPECT_EQ(run.exit_code, 0) << run.output << run.error;
  EXPECT_THAT(run.about("end"), HasSubstr("the daemon ends at SIGTERM"));
  EXPECT_TRUE(eventually([&] { return processes_with(mark).empty(); }));
}

TEST_F(Doctor, ACommandLineToolIsExaminedByItsDescription) {
  const Run run = this->run({"--json", "--cli", kExamples + "notes.sh"});
  EXPECT_EQ(run.exit_code, 0) << run.output << run.error;
  EXPECT_EQ(run.json()["server"]["kind"], "cli");
  EXPECT_EQ(run.json()["tools"]["count"], 2);
  EXPECT_EQ(run.json()["end"]["endsBy"], nullptr);
  const std::string wrong = directory_.write_script(
      "wrong", R"(echo '{"tools":[{"name":"add","cli_command":["add","{text}"]}]}')");
  const Run refused = this->run({"--json", "--cli", wrong});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.about("description"), AllOf(HasSubstr("add"), HasSubstr("text")));
}

TEST_F(Doctor, WrongWordsAreOneSentence) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"--no-such", "--", "a"},
                                                {"--json=1", "--", "a"},
                                                {"--cwd"},
                                                {"--header", "A=b", "--", "a"},
                                                {"--cli", "a", "--", "b"}}) {
    const Run run = this->run(words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.output, IsEmpty());
    EXPECT_THAT(run.error, AllOf(StartsWith("mcp-sitter doctor: "),
                                 EndsWith("; see mcp-sitter doctor --help\n")));
    EXPECT_EQ(lines_of(run.error).size(), 1);
  }
}

TEST_F(Doctor, HelpNamesTheOptionsAndTheExitCodes) {
  const Run run = this->run({"--help"});
  EXPECT_EQ(run.exit_code, 0);
  for (const std::string word : {"--json", "--no-environment", "--http", "Exit code"}) {
    EXPECT_THAT(run.output, HasSubstr(word));
  }
}

/// What the program writes to a terminal.
std::string shown_on_terminal(Program::Start start) {
  Terminal terminal;
  start.output = terminal.program.number();
  Program program(start);
  program.close_input();
  terminal.program.close();
  std::string text;
  std::array<char, 4096> buffer;
  // Linux reports the end of the other side as an error.
  for (ssize_t count = 1; count > 0;) {
    count = read(terminal.person.number(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  EXPECT_EQ(program.wait(), 0);
  return text;
}

TEST_F(Doctor, OnlyATerminalGetsColours) {
  std::vector<std::string> words = {"--no-environment", "--"};
  for (const std::string& word : fake()) words.push_back(word);
  environment_ = {"TERM=xterm", "NO_COLOR="};
  EXPECT_THAT(shown_on_terminal(start(words)), HasSubstr("\x1b[32mok "));
  EXPECT_THAT(run(words).output, AllOf(StartsWith("ok "), Not(HasSubstr("\x1b"))));
  environment_ = {"TERM=xterm", "NO_COLOR=1"};
  EXPECT_THAT(shown_on_terminal(start(words)), AllOf(StartsWith("ok "), Not(HasSubstr("\x1b"))));
  environment_ = {"TERM=dumb", "NO_COLOR="};
  EXPECT_THAT(shown_on_terminal(start(words)), StartsWith("ok "));
  words.insert(words.begin(), "--json");
  environment_ = {"TERM=xterm", "NO_COLOR="};
  EXPECT_THAT(shown_on_terminal(start(words)), AllOf(StartsWith("{"), Not(HasSubstr("\x1b"))));
}

TEST_F(Doctor, AnInterruptEndsAllThatWasStarted) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const std::string mark =
        "SITTER_DOCTOR_MARK=" + directory_.path() + "-" + std::to_string(signal);
    environment_ = {mark};
    const std::string journal = directory_ / ("journal-" + std::to_string(signal));
    std::vector<std::string> words = {"--"};
    for (const std::string& word : fake({"--never-answer", "initialize", "--ignore-eof",
                                         "--ignore-term", "--journal", journal, "--grandchild"})) {
      words.push_back(word);
    }
    Program program(start(words));
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(journal); }));
    EXPECT_GE(processes_with(mark).size(), 4);
    program.signal(signal);
    EXPECT_EQ(program.wait(), 128 + signal);
    EXPECT_TRUE(eventually([&] { return processes_with(mark).empty(); }));
  }
}

}  // namespace
}  // namespace sitter::testing
