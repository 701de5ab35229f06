#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOldCode[] = "[mcp-sitter] src/lib/part.sh changed";

/// A server that a shell runs from a script, with a further file beside the script.
class OldCode : public ::testing::Test {
 protected:
  OldCode() {
    directory_.write("src/server.sh", fake_in_shell() + "; true\n");
    directory_.write("src/lib/part.sh", "one\n");
  }

  ScriptedClient::Setup setup(const std::vector<std::string>& arguments = {}) const {
    ScriptedClient::Setup setup{.options = {"--cwd", directory_.path()},
                                .command = {"sh", "src/server.sh"}};
    setup.command.insert(setup.command.end(), arguments.begin(), arguments.end());
    return setup;
  }

  static std::string echo(ScriptedClient& client) {
    return client.text_of_call("echo", {{"text", "a"}});
  }

  /// A look that the system interrupts for too long does not see everything.
  static bool shows_stale(ScriptedClient& client, const Json& expected) {
    return eventually([&] { return client.status()["binaryStale"] == expected; });
  }

  const TemporaryDirectory directory_;
};

TEST_F(OldCode, IsNamedOnceUntilAKillEndsIt) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(echo(client), Not(HasSubstr("changed")));
  EXPECT_TRUE(shows_stale(client, false));

  directory_.write("src/lib/part.sh", "another\n");
  EXPECT_TRUE(shows_stale(client, true));
  EXPECT_TRUE(eventually([&] {
    const std::string text = echo(client);
    return text.find(kOldCode) != text.npos && text.find("call sitter_kill") != text.npos;
  }));
  EXPECT_THAT(echo(client), Not(HasSubstr("changed")));

  client.result_of("sitter_kill");
  EXPECT_THAT(echo(client), HasSubstr("server restarted"));
  EXPECT_TRUE(shows_stale(client, false));
}

TEST_F(OldCode, IsDetectedAfterAFileIsDeleted) {
  for (const std::string name : {"src/lib/part.sh", "src/server.sh"}) {
    ScriptedClient client(setup());
    client.open();
    EXPECT_TRUE(shows_stale(client, false));
    std::filesystem::remove(directory_ / name);
    EXPECT_TRUE(shows_stale(client, true));
    EXPECT_TRUE(eventually([&] {
      return echo(client).find("[mcp-sitter] " + name + " changed") != std::string::npos;
    }));
  }
}

TEST_F(OldCode, IsNotKnownOfAServerThatRestartsItself) {
  ScriptedClient client(setup({"--watch"}));
  client.open();
  echo(client);
  directory_.write("src/lib/part.sh", "another\n");
  EXPECT_TRUE(client.status()["binaryStale"].is_null());
}

}  // namespace
}  // namespace sitter::testing
