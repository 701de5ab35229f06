#include "io/process/image_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::in_another_process;
using testing::is_alive;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::pids;
using testing::shell;
using testing::TemporaryDirectory;
using ::testing::UnorderedElementsAre;

class ImageSweepTest : public ::testing::Test {
 protected:
  TemporaryDirectory dir_;
  std::string server_ = dir_.copy_program("server", "/bin/sleep");
};

TEST_F(ImageSweepTest, FindsTheFileUnderAllItsNames) {
  std::filesystem::create_hard_link(server_, dir_ / "hard");
  std::filesystem::create_symlink(server_, dir_ / "soft");
  Child child(server_, {"1000"});
  Child hard(dir_ / "hard", {"1000"});
  Child soft(dir_ / "soft", {"1000"});
  ImageIdentity image = image_of(child.pid());
  EXPECT_EQ(image.path, server_);
  EXPECT_THAT(pids(same_image(image, {child.pid()})), UnorderedElementsAre(hard.pid(), soft.pid()));
  EXPECT_THAT(pids(same_image(image_at(dir_ / "soft"), {})),
              UnorderedElementsAre(child.pid(), hard.pid(), soft.pid()));
}

TEST_F(ImageSweepTest, LeavesOtherFilesOfTheSameContentOrNameAlone) {
  std::string copy = dir_.copy_program("other/server", "/bin/sleep");
  Child child(server_, {"1000"});
  Child stranger(copy, {"1000"});
  Child original("/bin/sleep", {"1000"});
  ASSERT_TRUE(child.started() && stranger.started() && original.started());
  EXPECT_THAT(pids(same_image(image_of(child.pid()), {})), ElementsAre(child.pid()));
}

TEST_F(ImageSweepTest, FindsADeletedFile) {
  Child child(server_, {"1000"});
  Child second(server_, {"1000"});
  ImageIdentity image = image_of(child.pid());
  std::filesystem::remove(server_);
  EXPECT_THAT(pids(same_image(image, {})), UnorderedElementsAre(child.pid(), second.pid()));
  EXPECT_EQ(image_of(second.pid()).path, server_);
}

TEST_F(ImageSweepTest, FindsOldAndNewProcessesOfAReplacedFile) {
  Child old(server_, {"1000"});
  ImageIdentity old_image = image_of(old.pid());
  std::filesystem::rename(dir_.copy_program("new", "/bin/sleep"), server_);
  Child child(server_, {"1000"});
  EXPECT_THAT(pids(same_image(image_of(child.pid()), {})),
              UnorderedElementsAre(old.pid(), child.pid()));
  EXPECT_THAT(pids(same_image(old_image, {})), ElementsAre(old.pid()));
}

TEST_F(ImageSweepTest, AFileThatReusesTheInodeOfADeletedFileIsAnotherFile) {
  Child child(server_, {"1000"});
  ImageIdentity image = image_of(child.pid());
  // Changes the time of birth, if the file system reports one.
  if (image.born != 0) {
    ++image.born;
    EXPECT_THAT(same_image(image, {}), IsEmpty());
  }
  const ImageIdentity file{"/a", 1, 2, 3};
  EXPECT_TRUE(file.is_same_file({"/b", 1, 2, 3}));
  EXPECT_TRUE(file.is_same_file({"/a", 1, 2, 0}));
  for (const ImageIdentity& other :
       {ImageIdentity{"/a", 1, 2, 4}, ImageIdentity{"/a", 1, 9, 3}, ImageIdentity{"/a", 9, 2, 3}}) {
    EXPECT_FALSE(file.is_same_file(other));
  }
  EXPECT_FALSE(ImageIdentity().is_same_file({}));
}

TEST_F(ImageSweepTest, NeverFindsItselfOrItsAncestors) {
  ImageIdentity ours = image_of(getpid());
  EXPECT_THAT(pids(same_image(ours, {})), Not(Contains(getpid())));
  EXPECT_EQ(in_another_process([&] {
              auto found = pids(same_image(ours, {}));
              return std::count(found.begin(), found.end(), getppid());
            }),
            0);
}

TEST_F(ImageSweepTest, TellsWhichOtherLivingSitterHasStartedIt) {
  // Each of the first three leaves one form of the mark, and the last both to its parent only.
  const std::string both = "env -i prlimit --locks=unlimited " + server_ + " 1000";
  for (const std::string& script :
       {"exec " + server_ + " 1000", "exec env -i " + server_ + " 1000",
        "exec prlimit --locks=unlimited " + server_ + " 1000", both + "; true"}) {
    const pid_t bridge = fork();
    if (bridge == 0) {
      LaunchRequest request{"sh", shell(script), {}, {}, {}};
      const auto server = testing::launch(request, 5);
      pause();
    }
    const ImageIdentity image = image_at(server_);
    std::vector<SameImage> found;
    // In the middle of an exec, a process has neither arguments nor environment.
    EXPECT_TRUE(testing::eventually([&] {
      found = same_image(image, {});
      return found.size() == 1 && found.front().arguments == std::vector<std::string>{"1000"};
    }));
    const std::optional<Supervisor> supervisor = found.front().supervisor;
    EXPECT_TRUE(supervisor && supervisor->pid == bridge && supervisor->gen == 5) << script;
    EXPECT_EQ(in_another_process([&] { return same_image(image, {}).front().supervisor ? 0 : 1; }),
              0);
    kill(bridge, SIGKILL);
    waitpid(bridge, nullptr, 0);
    for (const SameImage& left : same_image(image, {})) EXPECT_FALSE(left.supervisor);
    for (const long pid : pids(found)) signal_same_image(pid, image, UnitSignal::kill);
    EXPECT_TRUE(testing::eventually([&] { return same_image(image, {}).empty(); }));
  }
}

TEST_F(ImageSweepTest, ASitterBelowWhichThisOneRunsIsNoOther) {
  Child child(server_, {"1000"});
  EXPECT_EQ(in_another_process(
                [&] { return same_image(image_of(child.pid()), {}).front().supervisor ? 1 : 0; }),
            0);
}

TEST_F(ImageSweepTest, LeavesOtherUsersAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  chmod(dir_.path().c_str(), 0755);
  Child child(server_, {"1000"});
  ImageIdentity image = image_of(child.pid());
  constexpr uid_t kNobody = 65534;
  pid_t stranger = fork();
  if (stranger == 0) {
    if (setuid(kNobody) == 0) execl(server_.c_str(), "server", "1000", nullptr);
    _exit(1);
  }
  EXPECT_TRUE(testing::eventually([&] { return runs_image(stranger, image); }));
  EXPECT_THAT(pids(same_image(image, {})), ElementsAre(child.pid()));
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST_F(ImageSweepTest, SignalsOnlyWhatStillRunsTheFile) {
  Child child(server_, {"1000"});
  Child stranger("/bin/sleep", {"1000"});
  ImageIdentity image = image_of(child.pid());
  EXPECT_EQ(signal_same_image(stranger.pid(), image, UnitSignal::kill), Delivery::gone);
  EXPECT_TRUE(is_alive(stranger.pid()));
  EXPECT_EQ(signal_same_image(child.pid(), image, UnitSignal::terminate), Delivery::delivered);
  EXPECT_EQ(child.wait(), (ExitStatus{143, "SIGTERM"}));
  EXPECT_EQ(signal_same_image(child.pid(), image, UnitSignal::terminate), Delivery::gone);
}

TEST_F(ImageSweepTest, UnknownImageFindsNothing) {
  EXPECT_THAT(same_image(image_at(dir_ / "missing"), {}), IsEmpty());
  EXPECT_THAT(same_image({}, {}), IsEmpty());
}

TEST(SharedByStrangers, InterpretersAndRunnersAreSharedAndTheUsersProgramsAreNot) {
  for (const char* path : {"/usr/bin/node",
                           "python3.11",
                           "/opt/x/bin/python3",
                           "java",
                           "dotnet",
                           "ruby3.1",
                           "/bin/bash",
                           "/bin/sh",
                           "/usr/bin/dash",
                           "npx",
                           "uv",
                           "deno",
                           "bun",
                           "perl5.36",
                           "php8.2",
                           "docker",
                           "podman",
                           "kubectl",
                           "ssh",
                           "C:\\nodejs\\Node.exe",
                           "npx.cmd",
                           "busybox"}) {
    EXPECT_TRUE(shared_by_strangers(path)) << path;
  }
  for (const char* path : {"/srv/server", "./my-node", "node-server", "pythonic",
                           "target/debug/mcp", "123", "", "/x/sshd"}) {
    EXPECT_FALSE(shared_by_strangers(path)) << path;
  }
}

TEST(BelongsToTheSystem, InstalledProgramsDoAndBuiltOnesDoNot) {
  for (const char* path :
       {"/usr/bin/cat", "/usr/lib/git-core/git", "/bin/tee", "/lib64/ld.so", "/nix/store/x/bin/cat",
        "/opt/homebrew/bin/jq", "C:/WINDOWS/system32/cmd.exe", "D:/Program Files (x86)/a/a.exe",
        "C:/msys64/usr/bin/tee.exe"}) {
    EXPECT_TRUE(belongs_to_the_system(path)) << path;
  }
  for (const char* path :
       {"/usr/local/bin/server", "/srv/server", "/home/a/bin/server", "/library/server",
        "./usr/bin/server", "C:/Users/a/server.exe", "C:/Windows.old/a.exe", "C:", ""}) {
    EXPECT_FALSE(belongs_to_the_system(path)) << path;
  }
}

}  // namespace
}  // namespace sitter
