#include "io/files/loaded_binary.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "io/files/binary_info.hpp"
#include "io/files/source_look.hpp"
#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using testing::shell;

class LoadedBinaryTest : public testing::CommandTest {
 protected:
  std::unique_ptr<Child> start(LoadedBinary& binary, const LaunchRequest& command) {
    binary.before_start(plan_launch(command));
    auto child = std::make_unique<Child>(command);
    expect_answer(*child);
    binary.on_started(started_);
    return child;
  }
  void rebuild(const std::string& name) {
    std::filesystem::rename(directory_.copy_program("next", "/bin/cat"), directory_ / name);
  }

  const WallTime started_{std::chrono::seconds(1'700'000'000)};
};

TEST_F(LoadedBinaryTest, BeforeTheFirstStartNothingIsLoaded) {
  const std::string server = directory_.copy_program("server", "/bin/cat");
  LoadedBinary binary(request("./server"));
  const BinaryFacts facts = binary.look(0);
  EXPECT_EQ(facts.path, server);
  EXPECT_TRUE(facts.exists);
  EXPECT_EQ(facts.build_id.value_or(""), build_id_of(server));
  EXPECT_FALSE(facts.loaded);
  EXPECT_FALSE(facts.stale);
  EXPECT_EQ(binary.program_to_sweep(KillScope::automatic).image.path, server);
}

TEST_F(LoadedBinaryTest, TheProgramBehindAScriptOfAShellMakesItStaleToo) {
  directory_.copy_program("server", "/bin/cat");
  directory_.write("run.sh", "#!/bin/sh\nexec ./server\n", 0755);
  const LaunchRequest command = request("./run.sh");
  LoadedBinary binary(command);
  const auto first = start(binary, command);
  EXPECT_EQ(binary.look(first->pid()).stale, false);
  rebuild("server");
  const BinaryFacts facts = binary.look(first->pid());
  EXPECT_EQ(facts.path, directory_ / "run.sh");
  EXPECT_EQ(facts.stale, true);
  EXPECT_EQ(facts.modified, modified_at(directory_ / "server"));
}

TEST_F(LoadedBinaryTest, AProgramBehindAScriptThatWasReplacedBeforeTheFirstLookIsOld) {
  directory_.copy_program("server", "/bin/cat");
  directory_.write("run.sh", "#!/bin/sh\nexec ./server\n", 0755);
  const LaunchRequest command = request("./run.sh");
  LoadedBinary binary(command);
  const auto child = start(binary, command);
  rebuild("server");
  EXPECT_EQ(binary.look(child->pid()).stale, true);
  SourceLook sources(command, binary.loaded(), started_);
  const auto change = sources.look(started_, [] { return true; }).newest;
  EXPECT_EQ(change ? change->file : "", "server");
}

TEST_F(LoadedBinaryTest, ARebuiltFileMakesTheRunningOneStaleUntilTheNextStart) {
  directory_.copy_program("server", "/bin/cat");
  const LaunchRequest command = request("./server");
  LoadedBinary binary(command);
  const auto first = start(binary, command);
  const BinaryFacts fresh = binary.look(first->pid());
  ASSERT_TRUE(fresh.loaded);
  EXPECT_EQ(fresh.loaded->since, started_);
  EXPECT_EQ(fresh.loaded->modified, fresh.modified);
  EXPECT_EQ(fresh.loaded->size, fresh.size);
  EXPECT_EQ(fresh.stale, false);

  rebuild("server");
  EXPECT_EQ(binary.look(first->pid()).stale, true);
  // Nothing runs, so nothing is stale.
  EXPECT_FALSE(binary.look(0).stale);

  const auto second = start(binary, command);
  EXPECT_EQ(binary.look(second->pid()).stale, false);
}

TEST_F(LoadedBinaryTest, AFileThatIsGoneMakesTheRunningOneStale) {
  const std::string server = directory_.copy_program("server", "/bin/cat");
  const LaunchRequest command = request("./server");
  LoadedBinary binary(command);
  const auto child = start(binary, command);
  std::filesystem::remove(server);
  const BinaryFacts facts = binary.look(child->pid());
  EXPECT_FALSE(facts.exists);
  EXPECT_FALSE(facts.size);
  EXPECT_EQ(facts.stale, true);
}

TEST_F(LoadedBinaryTest, StalenessIsUnknownWithoutAFile) {
  const LaunchRequest command = request("sh", shell("read line; true"));
  LoadedBinary binary(command);
  binary.before_start(plan_launch(command));
  Child child(command);
  ASSERT_TRUE(child.started()) << child.failure();
  binary.on_started(started_);
  const BinaryFacts facts = binary.look(child.pid());
  EXPECT_FALSE(facts.exists);
  EXPECT_EQ(facts.stale, std::nullopt);
}

TEST_F(LoadedBinaryTest, SweepsTheFileThatTheChildWasStartedFrom) {
  directory_.copy_program("server", "/bin/cat");
  const LaunchRequest command = request("./server");
  LoadedBinary binary(command);
  const auto child = start(binary, command);
  const ImageIdentity running = image_of(child->pid());
  rebuild("server");
  binary.look(child->pid());
  for (const KillScope scope : {KillScope::automatic, KillScope::same_executable}) {
    EXPECT_TRUE(binary.program_to_sweep(scope).image.is_same_file(running));
  }
  EXPECT_FALSE(binary.program_to_sweep(KillScope::child).image.is_known());
}

TEST_F(LoadedBinaryTest, BehindAShellTheProgramIsRememberedAndSweptButNotTheShell) {
  const std::string server = directory_.copy_program("server", "/bin/cat");
  const LaunchRequest command = request("sh", shell("./server; true"));
  LoadedBinary binary(command);
  const auto child = start(binary, command);
  EXPECT_FALSE(binary.program_to_sweep(KillScope::automatic).image.is_known());
  EXPECT_TRUE(binary.shared_image().is_same_file(image_of(child->pid())));

  EXPECT_EQ(binary.look(child->pid()).path, server);
  EXPECT_EQ(binary.look(child->pid()).stale, false);
  for (const KillScope scope : {KillScope::automatic, KillScope::same_executable}) {
    EXPECT_TRUE(binary.program_to_sweep(scope).image.is_same_file(image_at(server)));
  }
  EXPECT_FALSE(binary.shared_image().is_known());
  // While nothing runs, the command itself does not show the program.
  EXPECT_EQ(binary.look(0).path, server);
}

TEST_F(LoadedBinaryTest, AToolOfTheSystemBehindAShellIsNotSwept) {
  const LaunchRequest command = request("sh", shell("cat; true"));
  LoadedBinary binary(command);
  const auto child = start(binary, command);
  EXPECT_EQ(binary.look(child->pid()).path, std::filesystem::canonical("/bin/cat"));
  EXPECT_FALSE(binary.program_to_sweep(KillScope::automatic).image.is_known());
  EXPECT_TRUE(binary.shared_image().is_same_file(image_of(child->pid())));
}

TEST_F(LoadedBinaryTest, AToolOfTheSystemIsNotSweptEither) {
  const LaunchRequest command = request("/bin/cat");
  LoadedBinary binary(command);
  const auto child = start(binary, command);
  EXPECT_FALSE(binary.program_to_sweep(KillScope::automatic).image.is_known());
  EXPECT_TRUE(binary.shared_image().is_same_file(image_at("/bin/cat")));
}

TEST_F(LoadedBinaryTest, SweepsTheProgramThatAShellHasExecuted) {
  const std::string server = directory_.copy_program("server", "/bin/cat");
  for (const std::string& program : {server, std::string("/bin/cat")}) {
    const LaunchRequest command = request("sh", shell("read line; exec " + program));
    LoadedBinary binary(command);
    binary.before_start(plan_launch(command));
    Child child(command);
    ASSERT_TRUE(child.started()) << child.failure();
    binary.on_started(started_);
    testing::write_line(child->input, "now");
    expect_answer(child);
    binary.look(child.pid());
    EXPECT_TRUE(
        binary.program_to_sweep(KillScope::same_executable).image.is_same_file(image_at(program)));
    EXPECT_EQ(binary.shared_image().is_known(), program != server);
  }
}

TEST_F(LoadedBinaryTest, AnInterpreterIsSharedByStrangersBeforeItsFirstStart) {
  directory_.write_script("server", "cat");
  directory_.write("server.sh", "cat\n");
  for (const LaunchRequest& command : {request("./server"), request("sh", {"server.sh"}),
                                       request("sh", shell("./server; true"))}) {
    const LoadedBinary binary(command);
    EXPECT_FALSE(binary.program_to_sweep(KillScope::automatic).image.is_known());
    EXPECT_TRUE(binary.shared_image().is_same_file(image_at("/bin/sh")));
  }
}

TEST_F(LoadedBinaryTest, AnInterpreterIsSweptOnlyWhenThatIsAskedFor) {
  directory_.write("server.sh", "cat; true\n");
  const LaunchRequest command = request("sh", {"server.sh"});
  LoadedBinary binary(command);
  const auto child = start(binary, command);
  EXPECT_EQ(binary.look(child->pid()).path, directory_ / "server.sh");
  EXPECT_FALSE(binary.program_to_sweep(KillScope::automatic).image.is_known());
  for (const ImageIdentity& image :
       {binary.program_to_sweep(KillScope::same_executable).image, binary.shared_image()}) {
    EXPECT_TRUE(image.is_same_file(image_of(child->pid())));
  }
}

}  // namespace
}  // namespace sitter
