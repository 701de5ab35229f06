#include "io/process/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using testing::descriptors_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::in_another_process;
using testing::launch;
using testing::read_all;
using testing::read_line;
using testing::reason;
using testing::shell;
using testing::TemporaryDirectory;
using testing::write_line;

LaunchRequest request(std::string command, std::vector<std::string> arguments = {}) {
  return {std::move(command), std::move(arguments), {}, {}, {}};
}

std::string output_of(const LaunchRequest& what) {
  Child child(what);
  return child.started() ? read_all(child->output) : child.failure();
}

TEST(Launch, GivesTheChildThreePipes) {
  Child child("sh", shell("read line; echo \"out $line\"; echo err >&2"));
  ASSERT_TRUE(child.started()) << child.failure();
  ASSERT_TRUE(write_line(child->input, "word"));
  EXPECT_EQ(read_all(child->output), "out word\n");
  EXPECT_EQ(read_all(child->error), "err\n");
}

TEST(Launch, OurEndsDoNotBlockAndAreNotInherited) {
  Child child("cat", {});
  ASSERT_TRUE(child.started()) << child.failure();
  for (int end : {child->input.number(), child->output.number(), child->error.number()}) {
    EXPECT_NE(fcntl(end, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(fcntl(end, F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST(Launch, ChildHoldsNoDescriptorButItsPipes) {
  FileDescriptor inheritable(open("/dev/null", O_RDONLY));
  FileDescriptor high(fcntl(inheritable.number(), F_DUPFD, 200));
  Child child("cat", {});
  ASSERT_TRUE(child.started()) << child.failure();
  // The answer shows that the child has completed its exec.
  ASSERT_TRUE(write_line(child->input, "there"));
  ASSERT_EQ(read_line(child->output), "there");
  EXPECT_THAT(descriptors_of(child.pid()), ElementsAre(0, 1, 2));
}

TEST(Launch, WorksWhileTheStandardDescriptorsAreClosed) {
  EXPECT_EQ(in_another_process([] {
              for (int standard : {0, 1, 2}) close(standard);
              Child child("sh", shell("read line; echo $line; echo $line >&2"));
              if (!child.started() || !write_line(child->input, "fine")) return 1;
              bool arrived = read_all(child->output) == "fine\n";
              return arrived && read_all(child->error) == "fine\n" ? 0 : 2;
            }),
            0);
}

TEST(Launch, ChildLeadsASessionOfItsOwn) {
  Child child("cat", {});
  ASSERT_TRUE(child.started()) << child.failure();
  EXPECT_EQ(getsid(static_cast<pid_t>(child.pid())), child.pid());
  EXPECT_EQ(getpgid(static_cast<pid_t>(child.pid())), child.pid());
}

TEST(Launch, SignalsOfTheChildAreDefaultAndNotBlocked) {
  auto before = std::signal(SIGPIPE, SIG_IGN);
  sigset_t terminate;
  sigset_t mask_before;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  sigprocmask(SIG_BLOCK, &terminate, &mask_before);
  // A shell can't catch a signal that was ignored when it began, and is not ended by a blocked one.
  std::string seen = output_of(
      request("sh", shell("trap 'echo caught' PIPE; kill -PIPE $$; kill -TERM $$; echo blocked")));
  sigset_t mask_after;
  sigprocmask(SIG_SETMASK, &mask_before, &mask_after);
  std::signal(SIGPIPE, before);
  EXPECT_EQ(seen, "caught\n");
  EXPECT_TRUE(sigismember(&mask_after, SIGTERM));
}

TEST(Launch, ArgumentsArriveAsTheyAre) {
  EXPECT_EQ(output_of(request("printf", {"[%s]", "a b", "", "$HOME", "\"'"})),
            "[a b][][$HOME][\"']");
}

TEST(Launch, LaterEnvironmentEntriesWinOverTheFileAndTheFileOverOurs) {
  TemporaryDirectory dir;
  setenv("SITTER_A", "ours", 1);
  setenv("SITTER_B", "ours", 1);
  auto what = request("sh", shell("echo $SITTER_A $SITTER_B $SITTER_C $SITTER_D"));
  what.env_file = dir.write("vars", "SITTER_B=file\nSITTER_C=file\n");
  what.environment = {"SITTER_C=first", "SITTER_C=option", "SITTER_D=x=y"};
  EXPECT_EQ(output_of(what), "ours file option x=y\n");
  unsetenv("SITTER_A");
  unsetenv("SITTER_B");
}

TEST(Launch, EnvFileIsReadAnewAndMissingItIsAFailure) {
  TemporaryDirectory dir;
  auto what = request("sh", shell("echo $SITTER_A"));
  what.env_file = dir.write("vars", "SITTER_A=one\n");
  EXPECT_EQ(output_of(what), "one\n");
  dir.write("vars", "SITTER_A=two\n");
  EXPECT_EQ(output_of(what), "two\n");
  std::filesystem::remove(what.env_file);
  EXPECT_EQ(reason(launch(what)),
            "the env file " + what.env_file + " (--env-file) can't be read: no such file");
  dir.write("vars", "\nrubbish\n");
  EXPECT_THAT(reason(launch(what)), HasSubstr("is wrong in line 2: there is no '='"));
  what.env_file = dir.path();
  EXPECT_THAT(reason(launch(what)), HasSubstr("Is a directory"));
}

TEST(Launch, CommandWithASlashIsLookedUpFromTheDirectoryOfTheChild) {
  TemporaryDirectory dir;
  dir.write("sub/tool", "#!/bin/sh\necho $0\npwd\n", 0755);
  auto what = request("./tool");
  what.cwd = dir / "sub";
  EXPECT_EQ(output_of(what), (dir / "sub/tool") + "\n" + (dir / "sub") + "\n");
}

TEST(Launch, PathIsThatOfTheChildAndANonExecutableHitIsSkipped) {
  TemporaryDirectory dir;
  dir.write("plain/tool", "#!/bin/sh\necho wrong\n");
  std::filesystem::create_directories(dir / "folder/tool");
  dir.write("good/tool", "#!/bin/sh\necho right\n", 0755);
  auto what = request("tool");
  what.environment = {"PATH=" + (dir / "plain") + ":" + (dir / "folder") + ":" + (dir / "good")};
  EXPECT_EQ(output_of(what), "right\n");
  what.environment = {"PATH=" + (dir / "plain")};
  EXPECT_EQ(reason(launch(what)), "'tool' was found only as " + (dir / "plain/tool") +
                                      ", which is not executable (try chmod +x)");
}

TEST(Launch, RelativePathEntriesCountFromTheDirectoryOfTheChild) {
  TemporaryDirectory dir;
  dir.write("bin/tool", "#!/bin/sh\necho right\n", 0755);
  auto what = request("tool");
  what.cwd = dir.path();
  what.environment = {"PATH=bin"};
  EXPECT_EQ(output_of(what), "right\n");
}

TEST(Launch, CurrentDirectoryIsNotSearched) {
  TemporaryDirectory dir;
  dir.write("ls", "#!/bin/sh\necho wrong\n", 0755);
  dir.write("tool", "#!/bin/sh\necho wrong\n", 0755);
  auto what = request("ls", {"-d", "/"});
  what.cwd = dir.path();
  what.environment = {"PATH=:/usr/bin:/bin"};
  EXPECT_EQ(output_of(what), "/\n");
  what = request("tool");
  what.cwd = dir.path();
  what.environment = {"PATH=:/usr/bin"};
  EXPECT_EQ(reason(launch(what)),
            "no such file: 'tool' was not found in PATH (:/usr/bin); there is one in " +
                dir.path() + ": write ./tool to run it");
}

TEST(Launch, NotFoundNamesThePathThatWasSearched) {
  auto what = request("no-such-tool");
  what.environment = {"PATH=/usr/bin:/opt"};
  EXPECT_EQ(
      reason(launch(what)),
      "no such file: 'no-such-tool' was not found in PATH (/usr/bin:/opt); install it, or give "
      "its absolute path");
}

TEST(Launch, EachCauseOfAFailureIsNamed) {
  TemporaryDirectory dir;
  auto failure = [&](const std::string& file) { return reason(launch(request(file))); };
  EXPECT_EQ(failure(dir / "missing"), "can't start " + (dir / "missing") +
                                          ": no such file; build it, or correct the command");
  EXPECT_THAT(failure(dir.write("plain", "x")), HasSubstr("not executable"));
  EXPECT_THAT(failure(dir.path()), HasSubstr("it is a directory"));
  EXPECT_THAT(failure(dir.write("lost", "#!/no/such/runner -x\n", 0755)),
              HasSubstr("names the interpreter /no/such/runner, which does not exist"));
  EXPECT_THAT(failure(dir.write("dos", "#!/bin/sh\r\necho\r\n", 0755)),
              HasSubstr("ends with a carriage return, so the interpreter /bin/sh is not found"));
  EXPECT_THAT(failure(dir.write("bare", "echo hello\n", 0755)),
              HasSubstr("a script without a #! line"));
  EXPECT_THAT(failure(dir.write("empty", "", 0755)), HasSubstr("the file is empty"));
  EXPECT_THAT(failure(dir.write("binary", std::string("\x01\x02\x03\x00", 4), 0755)),
              HasSubstr("not a program for this machine"));
  EXPECT_THAT(failure((dir / "plain") + "/x"), HasSubstr("not a directory"));
  EXPECT_EQ(failure(""), "the command is empty");
}

TEST(Launch, OnlyACommandWithoutAFileIsMissing) {
  TemporaryDirectory dir;
  const auto is_missing = [&](LaunchRequest what) {
    what.environment = {"PATH=" + dir.path()};
    const auto launched = launch(what);
    const auto* const failure = std::get_if<LaunchFailure>(&launched);
    return failure != nullptr && failure->is_missing;
  };
  dir.write("plain", "x");
  EXPECT_TRUE(is_missing(request(dir / "missing")));
  EXPECT_TRUE(is_missing(request((dir / "missing") + "/server")));
  EXPECT_TRUE(is_missing(request("no-such-tool")));
  EXPECT_FALSE(is_missing(request(dir / "plain")));
  EXPECT_FALSE(is_missing(request("plain")));
  EXPECT_FALSE(is_missing(request(dir.write("lost", "#!/no/such/runner\n", 0755))));
  auto elsewhere = request(dir / "missing");
  elsewhere.cwd = dir / "nowhere";
  EXPECT_FALSE(is_missing(elsewhere));
}

TEST(Launch, UnusableDirectoryOfTheChildIsNamed) {
  TemporaryDirectory dir;
  auto what = request("sh");
  what.cwd = dir / "missing";
  EXPECT_EQ(reason(launch(what)), "the working directory " + (dir / "missing") +
                                      " (--cwd) can't be used: it does not exist");
  what.cwd = dir.write("file", "");
  EXPECT_EQ(reason(launch(what)),
            "the working directory " + (dir / "file") + " (--cwd) is not a directory");
}

TEST(Launch, ABuildWritesBothOutputsInOneOrder) {
  Child build(build_request("echo 1; echo 2 >&2; echo 3; exit 4", ""));
  ASSERT_TRUE(build.started()) << build.failure();
  EXPECT_EQ(read_all(build->error), "1\n2\n3\n");
  EXPECT_EQ(read_all(build->output), "");
  EXPECT_EQ(build.wait().code, 4);
}

TEST(Launch, TheDirectoryOfABuildIsNamedByItsOption) {
  EXPECT_THAT(reason(launch(build_request("true", "/does/not/exist"))),
              HasSubstr("/does/not/exist (--build-cwd)"));
}

TEST(Launch, FailedStartsLeaveNoZombieAndNoDescriptor) {
  TemporaryDirectory dir;
  std::string bad = dir.write("bad", "no program\n", 0755);
  std::set<int> before = descriptors_of(getpid());
  for (int i = 0; i < 100; ++i) ASSERT_NE(reason(launch(request(bad))), "[it was started]");
  EXPECT_EQ(descriptors_of(getpid()), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Launch, FailedStartDoesNotRunTheExitHandlersOfTheBridge) {
  TemporaryDirectory dir;
  // Both a forked child and one that shares the memory would write into this page.
  static int* const runs = static_cast<int*>(
      mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(runs, MAP_FAILED);
  std::atexit([] { ++*runs; });
  launch(request(dir.write("bad", "no program\n", 0755)));
  EXPECT_EQ(*runs, 0);
}

TEST(Reaper, TellsExitCodesFromSignals) {
  EXPECT_EQ(Child("sh", shell("exit 11")).wait(), (ExitStatus{11, ""}));
  EXPECT_EQ(Child("sh", shell("kill -SEGV $$")).wait(), (ExitStatus{139, "SIGSEGV"}));
  EXPECT_EQ(Child("sh", shell("kill -KILL $$")).wait(), (ExitStatus{137, "SIGKILL"}));
  EXPECT_EQ(signal_name(40), "signal 40");
}

TEST(Reaper, NamesTheSignalThatAShellPassesOn) {
  for (const auto& [signal, name] :
       {std::pair(SIGBUS, "SIGBUS"), std::pair(SIGUSR1, "SIGUSR1"), std::pair(SIGALRM, "SIGALRM"),
        std::pair(SIGXCPU, "SIGXCPU"), std::pair(SIGSYS, "SIGSYS"), std::pair(SIGKILL, "SIGKILL"),
        // These end no program.
        std::pair(0, ""), std::pair(SIGCHLD, ""), std::pair(127, "")}) {
    const ExitStatus status = Child("sh", shell(fmt::format("exit {}", 128 + signal))).wait();
    EXPECT_EQ(status, (ExitStatus{.code = 128 + signal, .passed_on = name}));
  }
}

}  // namespace
}  // namespace sitter
