#include "io/process/process_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <thread>

#include "io/process/process_unit.hpp"
#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using ::testing::Contains;
using ::testing::Field;
using testing::read_line;
using testing::shell;
using ::testing::SizeIs;
using testing::write_line;

TEST(ProcessTable, AnImageNeverMixesTwoPrograms) {
  const ImageIdentity shell_image = image_at("/bin/sh");
  for (int i = 0; i < 50; ++i) {
    Child child("sh", shell("read line; exec sleep 0"));
    ASSERT_TRUE(child.started()) << child.failure();
    ASSERT_TRUE(image_of(child.pid()).is_same_file(shell_image));
    ASSERT_TRUE(testing::write_line(child->input, "go"));
    for (ImageIdentity image = shell_image; image.is_known(); image = image_of(child.pid())) {
      ASSERT_EQ(image.path == shell_image.path, image.is_same_file(shell_image)) << image.path;
    }
  }
}

TEST(ProcessTable, CommandIsOnePrintableShortLine) {
  Child child("sh", {"-c", "echo; read line", "a\n\tb"});
  Child wide("sh", {"-c", "echo; read line", "x" + std::string(400, '\xC3') + "\xA4"});
  std::string accents;
  for (int i = 0; i < 200; ++i) accents += "\xC3\xA4";
  Child accented("sh", {"-c", "echo; read line", accents});
  ASSERT_TRUE(child.started() && wide.started() && accented.started());
  // The system knows the command before the program says anything.
  for (Child* const one : {&child, &wide, &accented}) read_line((*one)->output);
  EXPECT_EQ(command_of(child.pid()), "sh -c echo; read line a  b");
  EXPECT_THAT(command_of(wide.pid()), SizeIs(::testing::Le(200)));
  std::string shortened = command_of(accented.pid());
  EXPECT_TRUE(shortened.ends_with("\xA4..."));
  EXPECT_LE(shortened.size(), 200U);
}

TEST(ProcessTable, KnowsThisProcess) {
  auto self = find_process(getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_EQ(self->group, getpgrp());
  EXPECT_EQ(self->session, getsid(0));
  EXPECT_EQ(self->user, static_cast<long>(geteuid()));
  EXPECT_FALSE(self->zombie);
  EXPECT_EQ(working_directory_of(getpid()), std::filesystem::current_path().string());
}

TEST(ProcessTable, AFamilyIsAProcessAndItsDescendants) {
  Child child("sh", shell("(setsid sh -c 'echo $$; exec sleep 1000'; true) & wait"));
  ASSERT_TRUE(child.started()) << child.failure();
  const long detached = std::stol(read_line(child->output));
  const auto family = families_of({child.pid()});
  EXPECT_THAT(family, Contains(Field("pid", &ProcessRecord::pid, child.pid())));
  EXPECT_THAT(family, Contains(Field("pid", &ProcessRecord::pid, detached)));
  if (access("/proc/thread-self/children", R_OK) == 0) {
    EXPECT_THAT(family, SizeIs(3));
  }
  kill(static_cast<pid_t>(detached), SIGKILL);
}

TEST(ProcessTable, AFamilyIsThatOfEachThread) {
  std::promise<long> started;
  std::promise<void> seen;
  std::thread other([&] {
    const Child child("sleep", {"1000"});
    started.set_value(child.started() ? child.pid() : 0);
    seen.get_future().wait();
  });
  const long pid = started.get_future().get();
  EXPECT_THAT(families_of({getpid()}), Contains(Field("pid", &ProcessRecord::pid, pid)));
  seen.set_value();
  other.join();
}

/// The mark that a process shows after it has executed `command`.
std::optional<Generation> seen_of(const std::string& command, Generation gen,
                                  const ProcessRecord& bridge = this_process()) {
  Child child("sh", shell("exec " + command + " cat"), gen);
  // The answer shows that the process has completed its last exec.
  if (!child.started() || !write_line(child->input, "there") ||
      read_line(child->output) != "there") {
    return std::nullopt;
  }
  return marked_generation(child.pid(), bridge);
}

TEST(UnitMark, NamesTheGenerationOfAChildOrABuild) {
  EXPECT_EQ(seen_of("", 3), 3);
  EXPECT_EQ(seen_of("", -3), -3);
}

TEST(UnitMark, EnvironmentOrLimitIsEnough) {
  EXPECT_EQ(seen_of("env -i", 3), 3);
  EXPECT_EQ(seen_of("prlimit --locks=unlimited", 3), 3);
  // A bridge behind this bridge sets such a limit.
  EXPECT_EQ(seen_of("prlimit --locks=5:unlimited", 3), 3);
  EXPECT_EQ(seen_of("prlimit --locks=unlimited env -i", 3), std::nullopt);
}

TEST(UnitMark, IsOfOneBridge) {
  ProcessRecord other = this_process();
  ++other.pid;
  EXPECT_EQ(seen_of("", 3, other), std::nullopt);
  other = this_process();
  ++other.start;
  EXPECT_EQ(seen_of("", 3, other), std::nullopt);
  EXPECT_EQ(marked_generation(getpid(), this_process()), std::nullopt);
}

TEST(UnitMark, AGenerationTooLargeForTheLimitUsesTheEnvironment) {
  constexpr Generation kLast = (1 << 19) - 1;
  for (const Generation gen : {kLast, -kLast - 1}) EXPECT_EQ(seen_of("env -i", gen), gen);
  for (const Generation gen : {kLast + 1, -kLast - 2}) {
    EXPECT_EQ(unit_lock_limit(this_process(), gen), std::nullopt);
    EXPECT_EQ(seen_of("", gen), gen);
  }
}

}  // namespace
}  // namespace sitter
