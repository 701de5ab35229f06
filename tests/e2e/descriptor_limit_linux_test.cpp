// Only Linux limits the descriptors of a process that runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/http_daemon.hpp"
#include "support/own_descriptor.hpp"
#include "support/scripted_client.hpp"
#include "support/short_run.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

/// How many descriptors are left for the start of a process, which takes nine. Three of the process
/// before it may come back at any moment.
constexpr int kTooFew[] = {0, 2, 4};

/// Limits the descriptors of a running bridge.
class FewFiles {
 public:
  explicit FewFiles(ScriptedClient& client) : pid_(client.program().pid()) {
    prlimit(pid_, RLIMIT_NOFILE, nullptr, &before_);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;
  ~FewFiles() { end(); }

  /// From now on, no more than so many further files can be opened.
  void leave(int count) {
    std::set<int> used;
    for (const auto& file : std::filesystem::directory_iterator(folder())) {
      used.insert(std::stoi(file.path().filename().string()));
    }
    int number = 0;
    for (; used.contains(number) || count > 0; ++number) count -= used.contains(number) ? 0 : 1;
    set(static_cast<rlim_t>(number));
  }
  void set(rlim_t count) {
    const rlimit limit{count, before_.rlim_max};
    ASSERT_EQ(prlimit(pid_, RLIMIT_NOFILE, &limit, nullptr), 0);
  }
  void end() { prlimit(pid_, RLIMIT_NOFILE, &before_, nullptr); }

 private:
  std::string folder() const { return "/proc/" + std::to_string(pid_) + "/fd"; }

  pid_t pid_;
  rlimit before_{};
};

/// A daemon that is asked for more at once than there are descriptors for connections.
TEST(FewDescriptors, CallsToADaemonWaitForOneAndNoneIsLost) {
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  client.echo("before");
  FewFiles files(client);
  files.leave(12);
  for (int id = 1; id <= 40; ++id) client.call(id, "sleep", {{"ms", 100}});
  for (int id = 1; id <= 40; ++id) EXPECT_EQ(text_of(client.answer(id)["result"]), "slept") << id;
  EXPECT_EQ(client.echo("after"), "after");
  EXPECT_EQ(daemon.rows("method", "initialize").size(), 1u);
  // What is idle now makes room for the connection to the next daemon.
  daemon.kill();
  daemon.start();
  EXPECT_THAT(client.echo("next"), EndsWith("next"));
  EXPECT_EQ(client.end(), 0);
}

TEST(FewDescriptors, ACommandThatCannotRunIsToldAndTheNextOneRuns) {
  const TemporaryDirectory directory;
  directory.write("tools.json",
                  R"json([{"name": "tell", "cli_command": ["-c", "echo said"]}])json");
  ScriptedClient client({.options = {"--cli", "sh", "--schema-file", "tools.json"},
                         .command = {},
                         .cwd = directory.path()});
  client.open();
  EXPECT_EQ(client.text_of_call("tell"), "said\n");
  FewFiles files(client);
  for (const int left : kTooFew) {
    files.leave(left);
    EXPECT_THAT(client.text_of_call("tell"), HasSubstr("Too many open files")) << left;
    files.end();
    EXPECT_EQ(client.text_of_call("tell"), "said\n") << left;
  }
  EXPECT_EQ(client.end(), 0);
}

TEST(FewDescriptors, CallsOfAToolWaitForEachOther) {
  const TemporaryDirectory directory;
  directory.write("tools.json",
                  R"json([{"name": "tell", "cli_command": ["-c", "sleep 0.1; echo said"]}])json");
  ScriptedClient client({.options = {"--cli", "sh", "--schema-file", "tools.json"},
                         .command = {},
                         .cwd = directory.path()});
  client.open();
  client.text_of_call("tell");
  FewFiles files(client);
  files.leave(14);
  for (int id = 1; id <= 10; ++id) client.call(id, "tell");
  for (int id = 1; id <= 10; ++id) EXPECT_EQ(text_of(client.answer(id)["result"]), "said\n") << id;
  EXPECT_EQ(client.end(), 0);
}

TEST(FewDescriptors, ConnectionsOfCtlLeaveFilesForAStart) {
  const TemporaryDirectory runtime, temporary;
  ScriptedClient client(
      {.environment = {"XDG_RUNTIME_DIR=" + runtime.path(), "TMPDIR=" + temporary.path()}});
  client.open();
  client.echo("a");
  FewFiles files(client);
  files.leave(18);
  const std::string path =
      runtime / ("mcp-sitter/" + std::to_string(client.program().pid()) + ".sock");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  std::vector<OwnDescriptor> connections;
  int held = 0;
  for (int count = 0; count < 40; ++count) {
    const int number = connections.emplace_back(socket(AF_UNIX, SOCK_STREAM, 0)).number();
    ASSERT_EQ(connect(number, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    char first = 0;
    held += read(number, &first, 1) == 1 ? 1 : 0;
  }
  EXPECT_THAT(held, AllOf(Gt(0), Lt(40)));
  client.text_of_call("sitter_kill");
  EXPECT_THAT(client.echo("b"), AllOf(HasSubstr("server restarted"), EndsWith("b")));
  EXPECT_EQ(client.end(), 0);
}

TEST(FewDescriptors, AServerThatCannotStartIsToldAndTheNextOneStarts) {
  ScriptedClient client;
  client.open();
  FewFiles files(client);
  for (const int left : kTooFew) {
    client.text_of_call("sitter_kill");
    files.leave(left);
    EXPECT_THAT(client.echo("a"), HasSubstr("Too many open files")) << left;
    files.end();
    EXPECT_THAT(client.echo("b"), AllOf(HasSubstr("server restarted"), EndsWith("b"))) << left;
  }
  EXPECT_EQ(client.end(), 0);
}

TEST(FewDescriptors, ABuildThatCannotStartIsToldAndTheNextOneRuns) {
  ScriptedClient client({.options = {"--build", "echo built"}});
  client.open();
  client.echo("a");
  FewFiles files(client);
  for (const int left : kTooFew) {
    files.leave(left);
    EXPECT_THAT(client.text_of_call("sitter_rebuild"),
                AllOf(HasSubstr("the build could not be started"), HasSubstr("serves on")))
        << left;
    files.end();
  }
  EXPECT_THAT(client.text_of_call("sitter_rebuild"), HasSubstr("the build succeeded"));
  EXPECT_EQ(client.end(), 0);
}

TEST(FewDescriptors, CtlThatFindsNoneIsToldAndTheNextOneIsAnswered) {
  const TemporaryDirectory runtime, temporary;
  const std::vector<std::string> environment = {"XDG_RUNTIME_DIR=" + runtime.path(),
                                                "TMPDIR=" + temporary.path()};
  ScriptedClient client({.environment = environment});
  client.open();
  client.status();
  const auto ctl = [&] {
    return ShortRun(
        Program::Start{.command = {sitter_program(), "ctl", "status"}, .environment = environment});
  };
  FewFiles files(client);
  files.leave(0);
  EXPECT_THAT(ctl().error, HasSubstr("does not answer"));
  EXPECT_EQ(client.echo("a"), "a");
  files.end();
  EXPECT_THAT(ctl().output, HasSubstr("ready"));
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace sitter::testing
