#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/short_run.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Bridges with a runtime folder of their own, and `mcp-sitter ctl` beside them.
class Ctl : public ::testing::Test {
 protected:
  ScriptedClient::Setup setup(std::vector<std::string> options = {}) const {
    return {.options = std::move(options), .environment = environment()};
  }

  std::vector<std::string> environment() const {
    return {"XDG_RUNTIME_DIR=" + runtime_.path(), "TMPDIR=" + temporary_.path()};
  }

  ShortRun ctl(std::vector<std::string> words) const {
    words.insert(words.begin(), {sitter_program(), "ctl"});
    return ShortRun(Program::Start{.command = std::move(words), .environment = environment()});
  }

  /// The socket exists after the first answer.
  static void open(ScriptedClient& client) {
    client.open();
    client.status();
  }

  std::string socket_of(ScriptedClient& client) const {
    return runtime_ / ("mcp-sitter/" + std::to_string(client.program().pid()) + ".sock");
  }

  TemporaryDirectory runtime_, temporary_;
};

TEST_F(Ctl, ListShowsAllThatRun) {
  EXPECT_THAT(ctl({"list"}).output, HasSubstr("no mcp-sitter of yours is running"));
  ScriptedClient one(setup({"--name", "one"}));
  ScriptedClient two(setup({"--name", "two"}));
  open(one);
  open(two);
  const std::string text = ctl({"list"}).output;
  for (const std::string& word :
       {std::to_string(one.program().pid()), std::to_string(two.program().pid()),
        std::to_string(one.child_pid()), std::string("one"), std::string("two"),
        std::string("ready"), fs::current_path().native()}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
  const Json list = Json::parse(ctl({"list", "--json"}).output);
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list[0]["state"], "ready");
}

TEST_F(Ctl, StatusReloadKillAndStderr) {
  ScriptedClient client(setup({"--name", "dev"}));
  open(client);
  const long first = client.child_pid();
  EXPECT_THAT(ctl({"status"}).output, AllOf(HasSubstr("ready"), HasSubstr(std::to_string(first))));
  EXPECT_EQ(Json::parse(ctl({"status", "dev", "--json"}).output)["childPid"], first);

  const ShortRun reload = ctl({"reload", "dev"});
  EXPECT_EQ(reload.exit_code, 0);
  EXPECT_THAT(reload.output, HasSubstr("spawn #2"));
  EXPECT_TRUE(ends(first));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}), HasSubstr("spawn #2"));

  client.text_of_call("stderr", {{"text", "last words"}});
  EXPECT_THAT(ctl({"stderr", std::to_string(client.program().pid())}).output,
              HasSubstr("last words"));

  const long second = client.child_pid();
  EXPECT_THAT(ctl({"kill"}).output, HasSubstr(std::to_string(second)));
  EXPECT_TRUE(ends(second));
  EXPECT_THAT(ctl({"kill"}).output, HasSubstr("The server was not running (killed by ctl kill"));
  EXPECT_EQ(client.end(), 0);
}

TEST_F(Ctl, StatusNamesAPatternUntilAFileMatchesIt) {
  const TemporaryDirectory folder;
  folder.write("a.c", "1");
  ScriptedClient client(
      setup({"--cwd", folder.path(), "--watch", "*.c", "--watch", "src/*.cc", "--debounce", "30"}));
  open(client);
  EXPECT_TRUE(eventually(
      [&] { return client.status()["watch"].value("unmatched", Json()) == Json({"src/*.cc"}); }));
  EXPECT_THAT(ctl({"status"}).output, HasSubstr("no file matches"));
  folder.write("src/b.cc", "1");
  EXPECT_TRUE(eventually([&] { return !client.status()["watch"].contains("unmatched"); }));
  EXPECT_THAT(ctl({"status"}).output, Not(HasSubstr("no file matches")));
}

TEST_F(Ctl, EscapesTerminalControlsInJsonAndRemovesThemElsewhere) {
  const std::string steering[] = {"\u009B", "\x7F", "\u202E", "\u2028", "\u2066"};
  std::string all;
  for (const std::string& one : steering) all += "a" + one;
  TemporaryDirectory parent;
  const std::string folder = parent / all;
  fs::create_directory(folder);
  ScriptedClient client(setup({"--cwd", folder}));
  open(client);
  Program follower({.command = {sitter_program(), "ctl", "stderr", "--follow", "--json"},
                    .environment = environment()});
  follower.read_line();
  client.text_of_call("stderr", {{"text", all}});
  std::vector<std::string> outputs = {follower.read_line().value_or("")};
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"list"}, {"status"}, {"stderr"}, {"reload"}}) {
    for (const bool as_json : {false, true}) {
      std::vector<std::string> asked = words;
      if (as_json) asked.emplace_back("--json");
      outputs.push_back(ctl(asked).output);
      EXPECT_TRUE(!as_json || Json::accept(outputs.back())) << outputs.back();
    }
  }
  outputs.push_back(ctl({"status", "--cwd", folder + "x"}).error);
  outputs.push_back(ctl({"status", all}).error);
  outputs.push_back(ctl({"status", "--" + all}).error);
  for (const std::string& output : outputs) {
    EXPECT_FALSE(output.empty());
    for (const std::string& one : steering) EXPECT_THAT(output, Not(HasSubstr(one)));
  }
  EXPECT_EQ(Json::parse(ctl({"list", "--json"}).output)[0]["cwd"], folder);
}

TEST_F(Ctl, FindsABridgeWithAShorterEnvironment) {
  ScriptedClient::Setup chosen = setup({"--name", "short"});
  chosen.environment = {"XDG_RUNTIME_DIR=", "TMPDIR=" + temporary_.path()};
  ScriptedClient client(chosen);
  open(client);
  EXPECT_THAT(ctl({"list"}).output, HasSubstr("short"));
}

TEST_F(Ctl, StderrIsFollowedLineByLine) {
  ScriptedClient client(setup());
  open(client);
  Program follower({.command = {sitter_program(), "ctl", "stderr", "--follow", "--grep", "^..."},
                    .environment = environment()});
  follower.read_line();
  client.text_of_call("stderr", {{"text", "one\nno\ntwo\nthree"}});
  for (const std::string line : {"one", "two", "three"}) EXPECT_EQ(follower.read_line(), line);
  EXPECT_EQ(client.end(), 0);
  EXPECT_EQ(follower.wait(), 0);
}

TEST_F(Ctl, ABlockedFollowerDoesNotKeepTheBridgeFromEnding) {
  ScriptedClient client(setup());
  open(client);
  Program follower(
      {.command = {sitter_program(), "ctl", "stderr", "--follow"}, .environment = environment()});
  follower.read_line();
  follower.signal(SIGSTOP);
  const std::string line(4000, 'x');
  for (int i = 0; i < 2000; ++i) client.text_of_call("stderr", {{"text", line}});
  EXPECT_EQ(client.end(), 0);
}

TEST_F(Ctl, AHangupEndsWhoFollows) {
  ScriptedClient client(setup());
  open(client);
  Program follower(
      {.command = {sitter_program(), "ctl", "stderr", "--follow"}, .environment = environment()});
  follower.read_line();
  follower.signal(SIGHUP);
  EXPECT_EQ(follower.wait(), 128 + SIGHUP);
}

TEST_F(Ctl, UnwritableOutputIsAFailure) {
  ScriptedClient client(setup());
  open(client);
  const OwnDescriptor unwritable(::open("/dev/null", O_RDONLY));
  Program list({.command = {sitter_program(), "ctl", "list"},
                .environment = environment(),
                .output = unwritable.number()});
  EXPECT_EQ(list.wait(), 1);
  EXPECT_THAT(list.error_text(), HasSubstr("Bad file descriptor"));
}

TEST_F(Ctl, AFailedBuildIsAFailureOfReload) {
  ScriptedClient client(setup({"--build", "echo no >&2; exit 3"}));
  open(client);
  const ShortRun run = ctl({"reload"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("the build failed (exit 3)"));
}

TEST_F(Ctl, TwoOfOneNameAreToldApartByTheirPids) {
  ScriptedClient one(setup({"--name", "dev"}));
  ScriptedClient two(setup({"--name", "dev"}));
  open(one);
  open(two);
  const ShortRun run = ctl({"kill", "dev"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.error,
              AllOf(HasSubstr("2 mcp-sitters 'dev' of yours are running: choose one by its pid"),
                    HasSubstr(std::to_string(one.program().pid())),
                    HasSubstr(std::to_string(two.program().pid()))));
  EXPECT_THAT(ctl({"status", std::to_string(two.program().pid())}).output,
              HasSubstr(std::to_string(two.child_pid())));
}

TEST_F(Ctl, OneIsFoundByTheFolderOfItsServer) {
  TemporaryDirectory folder;
  ScriptedClient one(setup({"--cwd", folder.path()}));
  ScriptedClient two(setup());
  open(one);
  open(two);
  EXPECT_THAT(ctl({"status", "--cwd", folder.path()}).output,
              HasSubstr(std::to_string(one.program().pid())));
}

TEST_F(Ctl, ReportsThatNoBridgeRuns) {
  const ShortRun run = ctl({"status", "dev"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.error, HasSubstr("no mcp-sitter 'dev' of yours is running"));
}

TEST_F(Ctl, AUsageErrorExitsWith2) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"list", "x"},
                                                {"status", "--frobnicate"},
                                                {"kill", ""},
                                                {"status", "--cwd", ""},
                                                {"stderr", "--lines", "1001"}}) {
    const ShortRun run = ctl(words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.error, HasSubstr("mcp-sitter ctl --help"));
  }
  EXPECT_EQ(ctl({"frobnicate"}).exit_code, 2);
  EXPECT_THAT(ctl({"frobnicate"}).error, HasSubstr("there is no command 'frobnicate'"));
  EXPECT_THAT(ctl({"--help"}).output, HasSubstr("reload"));
  EXPECT_THAT(ctl({"kill", "--help"}).output, HasSubstr("mcp-sitter ctl kill"));
}

TEST_F(Ctl, TheSocketIsTheUsersAloneAndGoneAtTheEnd) {
  std::string socket;
  {
    ScriptedClient client(setup());
    open(client);
    socket = socket_of(client);
    ASSERT_TRUE(fs::exists(socket));
    struct stat found {};
    ASSERT_EQ(stat(socket.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    ASSERT_EQ(stat((runtime_ / "mcp-sitter").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
    EXPECT_EQ(client.end(), 0);
  }
  EXPECT_TRUE(fs::is_empty(runtime_.path()));
}

TEST_F(Ctl, NothingIsLeftOfABridgeThatIsKilled) {
  ScriptedClient client(setup());
  open(client);
  const std::string socket = socket_of(client);
  ASSERT_TRUE(fs::exists(socket));
  client.program().signal(SIGKILL);
  EXPECT_EQ(client.program().wait(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return fs::is_empty(runtime_.path()); }));
}

TEST_F(Ctl, ASocketOfADeadBridgeIsRemoved) {
  fs::create_directory(runtime_ / "mcp-sitter");
  fs::permissions(runtime_ / "mcp-sitter", fs::perms::owner_all);
  const std::string socket = runtime_ / "mcp-sitter/99999999.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  OwnDescriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(bind(dead.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  dead.close();
  EXPECT_THAT(ctl({"list"}).output, HasSubstr("no mcp-sitter of yours is running"));
  EXPECT_FALSE(fs::exists(socket));
}

TEST_F(Ctl, OneThatDoesNotAnswerIsNamed) {
  ScriptedClient stopped(setup());
  ScriptedClient other(setup());
  open(stopped);
  open(other);
  const std::string pid = std::to_string(stopped.program().pid());
  stopped.program().signal(SIGSTOP);
  const std::string listed = ctl({"list"}).output;
  EXPECT_THAT(listed, HasSubstr("does not answer"));
  EXPECT_THAT(listed.substr(listed.find("does not answer") + 1), Not(HasSubstr("does not answer")));
  EXPECT_THAT(ctl({"status", pid}).error, HasSubstr("mcp-sitter " + pid + " does not answer"));
  // The bridge that does not answer may be the bridge that is meant.
  EXPECT_THAT(ctl({"kill"}).error,
              HasSubstr("2 mcp-sitters of yours are running: choose one by its pid"));
  stopped.program().signal(SIGCONT);
}

TEST_F(Ctl, WithoutTheRuntimeFolderTheTemporaryOneIsUsed) {
  ScriptedClient::Setup chosen = setup({"--name", "elsewhere"});
  chosen.environment[0] = "XDG_RUNTIME_DIR=" + runtime_.path() + "/missing";
  ScriptedClient client(chosen);
  open(client);
  EXPECT_THAT(ctl({"list"}).output, HasSubstr("elsewhere"));
}

TEST_F(Ctl, ARuntimeFolderWithALongPathIsNotUsed) {
  const std::string folder = runtime_ / std::string(100, 'r');
  fs::create_directory(folder);
  ScriptedClient::Setup chosen = setup({"--name", "elsewhere"});
  chosen.environment[0] = "XDG_RUNTIME_DIR=" + folder;
  ScriptedClient client(chosen);
  open(client);
  EXPECT_THAT(ctl({"list"}).output, HasSubstr("elsewhere"));
}

TEST_F(Ctl, WithoutAShortPathTheBridgeGoesOnWithoutASocket) {
  const std::string folder = temporary_ / std::string(100, 't');
  fs::create_directory(folder);
  ScriptedClient::Setup chosen = setup();
  chosen.environment = {"XDG_RUNTIME_DIR=", "TMPDIR=" + folder};
  ScriptedClient client(chosen);
  open(client);
  EXPECT_TRUE(client.program().shows_error("the path is too long for a socket"));
  EXPECT_EQ(client.text_of_call("echo", {{"text", "a"}}), "a");
  EXPECT_EQ(client.end(), 0);
}

TEST_F(Ctl, AFolderThatOthersMayEnterIsNotUsed) {
  fs::create_directory(runtime_ / "mcp-sitter");
  fs::permissions(runtime_ / "mcp-sitter", fs::perms::all);
  ScriptedClient client(setup());
  open(client);
  EXPECT_TRUE(client.program().shows_error("other users may enter it (chmod 700 prevents that)"));
  EXPECT_FALSE(fs::exists(socket_of(client)));
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(fs::exists(runtime_ / "mcp-sitter")) << "it was not ours to remove";
}

TEST_F(Ctl, UsesNothingOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  ScriptedClient client(setup());
  open(client);
  ASSERT_TRUE(fs::exists(socket_of(client)));
  ASSERT_EQ(chown(socket_of(client).c_str(), 12345, 12345), 0);
  EXPECT_THAT(ctl({"list"}).output, HasSubstr("no mcp-sitter of yours is running"));
  ASSERT_EQ(chown((runtime_ / "mcp-sitter").c_str(), 12345, 12345), 0);
  ScriptedClient other(setup());
  open(other);
  EXPECT_TRUE(other.program().shows_error("it belongs to another user"));
}

TEST_F(Ctl, NoCtlCreatesNoSocket) {
  ScriptedClient client(setup({"--no-ctl"}));
  open(client);
  EXPECT_FALSE(fs::exists(socket_of(client)));
}

}  // namespace
}  // namespace sitter::testing
