#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "io/files/daemon_record.hpp"
#include "io/process/output_drain.hpp"
#include "process_support.hpp"

// What a daemon that outlives its bridge leaves for the next one.

namespace sitter {
namespace {

using testing::Child;
using testing::eventually;
using testing::shell;
using testing::TemporaryDirectory;

class LeftDaemonTest : public ::testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::string socket_ = directory_ / "1.take";
  const std::string record_ = directory_ / "1.daemon";
};

TEST_F(LeftDaemonTest, HandsItsPipesAndTheEndOfItsErrorToOneBridgeAtATime) {
  ASSERT_EQ(limits::kLeftErrorMax, 65536u);
  Child daemon("sh", shell("head -c 65536 /dev/zero | tr '\\0' x >&2; printf end >&2; "
                           "exec sleep 1000"));
  ASSERT_TRUE(daemon.started()) << daemon.failure();
  directory_.write("1.daemon", "");
  auto drain = OutputDrain::start(*daemon.operator->(), {socket_, record_});
  ASSERT_TRUE(drain);
  const auto pid = static_cast<pid_t>(drain->pid());
  EXPECT_FALSE(OutputDrain::take(socket_)) << "the first bridge has the daemon";
  drain.reset();
  // What was read from the pipe is kept before a bridge is heard.
  ASSERT_TRUE(eventually([&] {
    int unread = 1;
    ioctl(daemon->error.number(), FIONREAD, &unread);
    return command_of(daemon.pid()) == "sleep 1000" && unread == 0;
  }));

  auto taken = OutputDrain::take(socket_);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->error, std::string(65533, 'x') + "end");
  EXPECT_EQ(taken->drain.pid(), 0);
  EXPECT_FALSE(OutputDrain::take(socket_)) << "the second bridge has the daemon";
  taken.reset();
  ASSERT_TRUE(eventually([&] { return (taken = OutputDrain::take(socket_)).has_value(); }));
  EXPECT_EQ(taken->error, "");

  kill(static_cast<pid_t>(daemon.pid()), SIGKILL);
  taken.reset();
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_FALSE(std::filesystem::exists(record_));
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(LeftDaemonTest, TheRecordNamesTheProcessItsCommandAndItsFile) {
  LaunchRequest request{"server", {"--port", "1"}, directory_.path(), {}, {}};
  request.daemon_url = "http://127.0.0.1:1/mcp";
  BinaryInfo file;
  file.path = directory_ / "server";
  file.exists = true;
  file.size = 7;
  file.inode = 8;
  file.mtime = WallTime(std::chrono::seconds(9));
  const WallTime started(std::chrono::seconds(10));
  ASSERT_TRUE(DaemonRecord::of(request, getpid(), started, file).write(record_));
  struct stat facts {};
  ASSERT_EQ(stat(record_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);

  const DaemonRecord record = DaemonRecord::read(record_);
  EXPECT_EQ(record.pid, getpid());
  EXPECT_EQ(record.start, this_process().start);
  EXPECT_EQ(record.started, started);
  EXPECT_EQ(record.binary.path, file.path);
  EXPECT_EQ(record.binary.mtime, file.mtime);
  EXPECT_EQ(record.binary.size, 7u);
  EXPECT_EQ(record.binary.inode, 8u);
  EXPECT_TRUE(record.is_of(request));
  for (const auto change :
       {+[](LaunchRequest& other) { other.command = "other"; },
        +[](LaunchRequest& other) { other.arguments.pop_back(); },
        +[](LaunchRequest& other) { other.cwd = "/"; },
        +[](LaunchRequest& other) { other.daemon_url = "http://127.0.0.1:2/mcp"; }}) {
    LaunchRequest other = request;
    change(other);
    EXPECT_FALSE(record.is_of(other));
  }
}

TEST_F(LeftDaemonTest, TheRecordKnowsTheFolderUnderAllItsNames) {
  const std::string folder = std::filesystem::current_path();
  const std::string link = directory_ / "link";
  std::filesystem::create_directory_symlink(folder, link);
  const std::vector<std::string> names = {"", ".", folder, folder + "/", link, link + "/."};
  for (const std::string& one : names) {
    const auto record = DaemonRecord::of({"server", {}, one, {}, {}}, getpid(), {}, {});
    for (const std::string& other : names) {
      EXPECT_TRUE(record.is_of({"server", {}, other, {}, {}})) << one << " and " << other;
    }
  }
}

TEST_F(LeftDaemonTest, AFileThatIsNoRecordNamesNoProcess) {
  for (const char* const text : {"", "{}", "[]", R"json({"file":7,"pid":1})json"}) {
    EXPECT_EQ(DaemonRecord::read(directory_.write("1.daemon", text)).pid, 0) << text;
  }
}

}  // namespace
}  // namespace sitter
