#include "io/process/process_unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "io/system/posix.hpp"
#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::eventually;
using testing::in_another_process;
using testing::is_alive;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::pids;
using testing::read_all;
using testing::read_line;
using testing::shell;
using ::testing::SizeIs;

/// How many files this process has read so far, in calls (proc(5)). This is one of them, however
/// many digits the numbers have.
long reads_so_far() {
  const std::string io = testing::contents_of("/proc/self/io");
  return std::stol(io.substr(io.find("syscr: ") + 7));
}

/// Reads a pid that a script prints.
long pid_from(Child& child) { return std::stol(read_line(child->output)); }

class ProcessUnitTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(platform::become_subreaper()); }

  void TearDown() override {
    // The next test must not adopt orphans of this test.
    EXPECT_TRUE(eventually([] {
      reap();
      return waitpid(-1, nullptr, WNOHANG) == -1;
    }));
  }

  /// Waits until the process has the bridge as its parent and a session of its own, and runs its
  /// last program. During an exec, the environment of a process, and so its mark, cannot be read.
  static bool is_adopted(long pid) {
    return eventually([&] {
      const auto process = find_process(pid);
      return process && process->session == pid && process->parent == getpid() &&
             command_of(pid) == "sleep 1000";
    });
  }

  void end(ProcessUnit& unit) {
    unit.signal(UnitSignal::kill, {});
    EXPECT_TRUE(eventually([&] {
      reap();
      return unit.members({}).empty();
    }));
  }
};

/// Orphans that have one form of the mark, or both.
class OrphanTest : public ProcessUnitTest, public ::testing::WithParamInterface<std::string> {
 protected:
  /// A shell command that leaves an orphan behind and prints its pid.
  static std::string orphan() { return "setsid " + GetParam() + " sleep 1000 & echo $!"; }
};

TEST_F(ProcessUnitTest, HoldsTheLeaderFirstAndItsDescendants) {
  Child child("sh", shell("sleep 1000 & echo $!; sh -c 'sleep 1000 & echo $!; wait' & wait"));
  ASSERT_TRUE(child.started()) << child.failure();
  long one = pid_from(child);
  long two = pid_from(child);
  ProcessUnit unit(child.pid(), 1);
  std::vector<ProcessInfo> members;
  EXPECT_TRUE(eventually([&] {
    members = unit.members({});
    return members.size() == 4 && members.back().command == "sleep 1000";
  }));
  EXPECT_EQ(members.front().pid, child.pid());
  EXPECT_THAT(pids(members), Contains(one));
  EXPECT_THAT(pids(members), Contains(two));
  end(unit);
}

TEST_F(ProcessUnitTest, OutlivesItsLeader) {
  Child child("sh", shell("sleep 1000 & echo $!"));
  ASSERT_TRUE(child.started()) << child.failure();
  long left = pid_from(child);
  ProcessUnit unit(child.pid(), 1);
  child.wait();
  EXPECT_THAT(pids(unit.members({})), ElementsAre(left));
  end(unit);
  EXPECT_FALSE(is_alive(left));
}

TEST_F(ProcessUnitTest, IsNotSoughtAgainOnceTwoListsHaveShownNoMember) {
  Child child("true", {});
  ASSERT_TRUE(child.started()) << child.failure();
  ProcessUnit unit(child.pid(), 1);
  child.wait();
  const auto reads_of = [](auto look) {
    const auto begin = reads_so_far();
    look();
    return reads_so_far() - begin;
  };
  const auto no_list = reads_of([] {});
  EXPECT_GT(reads_of([&] { EXPECT_THAT(unit.signal(UnitSignal::terminate, {}), IsEmpty()); }),
            no_list);
  EXPECT_EQ(reads_of([&] {
              EXPECT_THAT(unit.signal(UnitSignal::kill, {}), IsEmpty());
              EXPECT_THAT(unit.members({}), IsEmpty());
            }),
            no_list);
}

TEST_F(ProcessUnitTest, IsSoughtAgainIfTheProcessesCouldNotBeListed) {
  Child child("sleep", {"1000"});
  ASSERT_TRUE(child.started()) << child.failure();
  ProcessUnit unit(child.pid(), 1);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{3, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_THAT(unit.signal(UnitSignal::terminate, {}), IsEmpty());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_THAT(pids(unit.members({})), ElementsAre(child.pid()));
  end(unit);
}

TEST_F(ProcessUnitTest, HoldsSessionsThatDescendantsOpened) {
  Child child("sh", shell("setsid sleep 1000 & echo $!; wait"));
  ASSERT_TRUE(child.started()) << child.failure();
  long detached = pid_from(child);
  ASSERT_TRUE(eventually([&] { return getsid(static_cast<pid_t>(detached)) == detached; }));
  ProcessUnit unit(child.pid(), 1);
  EXPECT_THAT(pids(unit.members({})), ElementsAre(child.pid(), detached));
  end(unit);
  EXPECT_FALSE(is_alive(detached));
}

TEST_F(ProcessUnitTest, HoldsOrphansThatTheBridgeHasAdopted) {
  Child child("sh", shell("(setsid sleep 1000 & echo $!); exec sleep 1000"));
  ASSERT_TRUE(child.started()) << child.failure();
  long orphan = pid_from(child);
  ASSERT_TRUE(is_adopted(orphan));
  ProcessUnit unit(child.pid(), 1);
  EXPECT_THAT(pids(unit.members({})), ElementsAre(child.pid(), orphan));
  end(unit);
}

TEST(ProcessUnitWithoutASubreaper, HoldsTheOrphansThatCarryItsMark) {
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  Child child("sh", shell("(setsid sleep 1000 & echo $!); exec sleep 1000"));
  Child other("sh", shell("(setsid sleep 1000 & echo $!); exec sleep 1000"), 2);
  ASSERT_TRUE(child.started() && other.started());
  const long orphan = pid_from(child);
  const long of_other = pid_from(other);
  for (const long pid : {orphan, of_other}) {
    std::optional<ProcessRecord> process;
    ASSERT_TRUE(eventually([&] {
      process = find_process(pid);
      return process && process->session == pid && command_of(pid) == "sleep 1000" &&
             process->parent != child.pid() && process->parent != other.pid();
    }));
    if (process->parent != 1) GTEST_SKIP() << "the process " << process->parent << " adopts here";
  }
  ProcessUnit unit(child.pid(), 1);
  EXPECT_THAT(pids(unit.members({other.pid()})), ElementsAre(child.pid(), orphan));
  unit.signal(UnitSignal::kill, {other.pid()});
  EXPECT_TRUE(eventually([&] { return !is_alive(orphan); }));
  EXPECT_TRUE(is_alive(of_other));
  kill(static_cast<pid_t>(of_other), SIGKILL);
}

TEST_F(ProcessUnitTest, OfABuildHoldsOnlyWhatIsStillInItsSession) {
  Child build(build_request("sleep 1000 & setsid sleep 1000 & echo $!; wait", ""));
  ASSERT_TRUE(build.started()) << build.failure();
  const long daemon = std::stol(read_line(build->error));
  ASSERT_TRUE(eventually([&] { return getsid(static_cast<pid_t>(daemon)) == daemon; }));
  ProcessUnit unit(build.pid(), -1);
  EXPECT_THAT(pids(unit.members({})), ::testing::AllOf(SizeIs(2), Contains(build.pid())));
  end(unit);
  EXPECT_TRUE(is_alive(daemon));
  kill(static_cast<pid_t>(daemon), SIGKILL);
}

TEST_F(ProcessUnitTest, OfARunEndsWithItsDaemonsWhileTheRunGoesOn) {
  Child run("sh", shell("setsid sleep 1000 & echo $!; (setsid sleep 1000 & echo $!); wait"));
  ASSERT_TRUE(run.started()) << run.failure();
  const long daemon = pid_from(run);
  const long orphan = pid_from(run);
  ASSERT_TRUE(is_adopted(orphan));
  ASSERT_TRUE(eventually([&] { return getsid(static_cast<pid_t>(daemon)) == daemon; }));
  // Only what carries the mark of the run is known to be of the run.
  ProcessUnit unit(run.pid(), kFirstRun);
  EXPECT_THAT(pids(unit.members({})), ElementsAre(run.pid()));
  end(unit);
  EXPECT_FALSE(is_alive(daemon));
  EXPECT_TRUE(is_alive(orphan));
  kill(static_cast<pid_t>(orphan), SIGKILL);
}

TEST_F(ProcessUnitTest, OfABuildHoldsWhatIsStillInItsSessionInAnotherGroup) {
  const pid_t leader = fork();
  if (leader == 0) {
    setsid();
    const pid_t member = fork();
    if (member == 0) pause();
    _exit(setpgid(member, member));
  }
  ProcessUnit unit(leader, -1);
  int status = -1;
  ASSERT_EQ(waitpid(leader, &status, 0), leader);
  ASSERT_EQ(status, 0);
  EXPECT_THAT(unit.members({}), SizeIs(1));
  end(unit);
  EXPECT_TRUE(eventually([&] {
    reap();
    return !is_number_in_use(leader);
  }));
}

TEST_P(OrphanTest, ThatABuildHasLeftBehindBelongsToNoUnit) {
  Child child("sleep", {"1000"});
  ASSERT_TRUE(child.started()) << child.failure();
  Child build(build_request(orphan(), ""));
  ASSERT_TRUE(build.started()) << build.failure();
  const long daemon = std::stol(read_line(build->error));
  build.wait();
  ASSERT_TRUE(is_adopted(daemon));
  ProcessUnit unit(child.pid(), 1);
  EXPECT_THAT(pids(unit.members({})), ElementsAre(child.pid()));
  kill(static_cast<pid_t>(daemon), SIGKILL);
  end(unit);
}

TEST_P(OrphanTest, BelongsToTheUnitThatItCameFrom) {
  Child elder("sh", shell("(" + orphan() + "); exec sleep 1000"), 1);
  Child younger("sh", shell("(" + orphan() + "); exec sleep 1000"), 2);
  ASSERT_TRUE(elder.started() && younger.started());
  const long of_elder = pid_from(elder);
  const long of_younger = pid_from(younger);
  ASSERT_TRUE(is_adopted(of_elder) && is_adopted(of_younger));
  ProcessUnit one(elder.pid(), 1);
  ProcessUnit two(younger.pid(), 2);
  EXPECT_THAT(pids(one.members({younger.pid()})), ElementsAre(elder.pid(), of_elder));
  EXPECT_THAT(pids(two.members({elder.pid()})), ElementsAre(younger.pid(), of_younger));
  one.signal(UnitSignal::kill, {younger.pid()});
  EXPECT_TRUE(eventually([&] { return !is_alive(of_elder); }));
  EXPECT_TRUE(is_alive(of_younger));
  end(two);
}

INSTANTIATE_TEST_SUITE_P(, OrphanTest, ::testing::Values("", "env -i", "prlimit --locks=unlimited"),
                         [](const auto& one) {
                           return one.param.empty()       ? "AsItCame"
                                  : one.param == "env -i" ? "WithoutEnvironment"
                                                          : "WithOtherLimits";
                         });

// sudo leaves a process without any mark.
TEST_F(ProcessUnitTest, AnOrphanWithoutAnyMarkIsOfTheYoungestUnitThatIsOlder) {
  const auto script =
      shell("(setsid prlimit --locks=unlimited env -i sleep 1000 & echo $!); exec sleep 1000");
  Child elder("sh", script, 1);
  ASSERT_TRUE(elder.started()) << elder.failure();
  const long of_elder = pid_from(elder);
  ASSERT_TRUE(is_adopted(of_elder));
  // Two processes can be born within one tick of the system's clock.
  ASSERT_TRUE(eventually([&] {
    Child later("sleep", {"1000"});
    return later.started() && find_process(later.pid())->start > find_process(of_elder)->start;
  }));
  Child younger("sh", script, 2);
  ASSERT_TRUE(younger.started()) << younger.failure();
  const long of_younger = pid_from(younger);
  ASSERT_TRUE(is_adopted(of_younger));
  ProcessUnit one(elder.pid(), 1);
  ProcessUnit two(younger.pid(), 2);
  EXPECT_THAT(pids(one.members({younger.pid()})), ElementsAre(elder.pid(), of_elder));
  EXPECT_THAT(pids(two.members({elder.pid()})), ElementsAre(younger.pid(), of_younger));
  end(one);
  end(two);
}

TEST_F(ProcessUnitTest, RemembersASessionWhoseOriginHasEnded) {
  Child child("sh", shell("setsid sh -c 'trap \"sleep 1000 & echo \\$!; exit\" USR1; echo $$; "
                          "sleep 1000 & wait' & wait"));
  ASSERT_TRUE(child.started()) << child.failure();
  long detached = pid_from(child);
  // An observer that is not the bridge adopts nothing, so the chain of parents does not lead to it.
  ProcessRecord nobody;
  nobody.pid = 0x7FFFFFF0;
  const auto start = ProcessUnit(child.pid(), 1).leader_start();
  ProcessUnit seen(child.pid(), start, nobody, 1);
  ProcessUnit unseen(child.pid(), start, nobody, 1);
  seen.look({});
  kill(static_cast<pid_t>(child.pid()), SIGKILL);
  child.wait();
  kill(static_cast<pid_t>(detached), SIGUSR1);
  long newcomer = pid_from(child);
  EXPECT_THAT(pids(seen.members({})), Contains(newcomer));
  EXPECT_THAT(pids(unseen.members({})), IsEmpty());
  end(seen);
  EXPECT_FALSE(is_alive(newcomer));
}

TEST_F(ProcessUnitTest, LeavesOtherUnitsAlone) {
  Child child("sleep", {"1000"});
  Child other("sh", shell("setsid sleep 1000 & echo $!; wait"), 2);
  ASSERT_TRUE(child.started() && other.started());
  long detached = pid_from(other);
  ASSERT_TRUE(eventually([&] { return getsid(static_cast<pid_t>(detached)) == detached; }));
  ProcessUnit unit(child.pid(), 1);
  EXPECT_THAT(pids(unit.members({other.pid()})), ElementsAre(child.pid()));
  ProcessUnit others(other.pid(), 2);
  EXPECT_THAT(pids(others.members({child.pid()})), ElementsAre(other.pid(), detached));
  others.signal(UnitSignal::kill, {child.pid()});
  EXPECT_TRUE(eventually([&] { return !is_alive(detached); }));
  EXPECT_TRUE(is_alive(child.pid()));
}

TEST_F(ProcessUnitTest, LeavesChildrenInTheBridgesOwnSessionAlone) {
  pid_t helper = fork();
  if (helper == 0) {
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  Child child("sleep", {"1000"});
  ASSERT_TRUE(child.started()) << child.failure();
  ProcessUnit unit(child.pid(), 1);
  EXPECT_THAT(pids(unit.members({})), ElementsAre(child.pid()));
  kill(helper, SIGKILL);
}

TEST_F(ProcessUnitTest, LeavesChildrenAloneThatAreOlderThanTheLeader) {
  Child stranger("sleep", {"1000"});
  ASSERT_TRUE(stranger.started()) << stranger.failure();
  std::uint64_t born = ProcessUnit(stranger.pid(), 1).leader_start();
  // Two processes can be born within one tick of the system's clock.
  ASSERT_TRUE(eventually([&] {
    Child child("sleep", {"1000"});
    if (!child.started() || ProcessUnit(child.pid(), 1).leader_start() == born) return false;
    ProcessUnit unit(child.pid(), 1);
    EXPECT_THAT(pids(unit.members({})), ElementsAre(child.pid()));
    return true;
  }));
}

TEST_F(ProcessUnitTest, ZombiesAreNoMembers) {
  Child child("true", {});
  ASSERT_TRUE(child.started()) << child.failure();
  ProcessUnit unit(child.pid(), 1);
  EXPECT_EQ(read_all(child->output), "");
  EXPECT_TRUE(eventually([&] { return unit.members({}).empty(); }));
  EXPECT_TRUE(find_process(child.pid())->zombie);
  EXPECT_THAT(unit.signal(UnitSignal::kill, {}), IsEmpty());
}

TEST_F(ProcessUnitTest, TerminateReachesEveryMemberOnce) {
  Child child("sh", shell("trap '' TERM; sh -c 'sleep 1000 & echo; wait' & read line"));
  ASSERT_TRUE(child.started()) << child.failure();
  read_line(child->output);
  ProcessUnit unit(child.pid(), 1);
  std::vector<Signalled> sent = unit.signal(UnitSignal::terminate, {});
  EXPECT_THAT(sent, SizeIs(3));
  for (const Signalled& one : sent) EXPECT_EQ(one.delivery, Delivery::delivered);
  // An ignored signal stays ignored in descendants, so all three processes have to be killed.
  EXPECT_THAT(unit.members({}), SizeIs(3));
  EXPECT_THAT(unit.signal(UnitSignal::kill, {}), SizeIs(3));
  EXPECT_TRUE(eventually([&] { return unit.members({}).empty(); }));
}

TEST_F(ProcessUnitTest, KillCatchesAProcessThatForksAndExitsAllTheTime) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  FileDescriptor from_hopper(ends[0]);
  // Thousands of adopted zombies would use up the pids of the system.
  auto before = std::signal(SIGCHLD, SIG_IGN);
  pid_t leader = fork();
  if (leader == 0) {
    setsid();
    if (write(ends[1], "\n", 1) != 1) _exit(1);
    if (fork() != 0) {
      close(ends[1]);
      pause();
    }
    // The chain of forks ends by itself if the kill fails.
    constexpr int kHops = 20000;
    for (int hop = 0; hop < kHops; ++hop) {
      if (fork() != 0) _exit(0);
    }
    _exit(write(ends[1], "escaped", 7) == 7 ? 0 : 1);
  }
  ProcessUnit unit(leader, 1);
  close(ends[1]);
  ASSERT_EQ(read_line(from_hopper), "");
  unit.signal(UnitSignal::kill, {});
  // The pipe ends when its last holder has ended.
  EXPECT_EQ(read_all(from_hopper), "");
  std::signal(SIGCHLD, before);
}

TEST_F(ProcessUnitTest, AReusedPidIsNotAMember) {
  Child child("sleep", {"1000"});
  ASSERT_TRUE(child.started()) << child.failure();
  auto record = find_process(child.pid());
  ASSERT_TRUE(record);
  ProcessUnit former(child.pid(), record->start - 1, this_process(), 1);
  EXPECT_THAT(former.signal(UnitSignal::kill, {}), IsEmpty());
  ProcessRecord stale = *record;
  --stale.start;
  EXPECT_EQ(send_signal(stale, UnitSignal::kill), Delivery::gone);
  EXPECT_TRUE(is_alive(child.pid()));
  EXPECT_EQ(send_signal(*record, UnitSignal::kill), Delivery::delivered);
  EXPECT_EQ(child.wait(), (ExitStatus{137, "SIGKILL"}));
}

TEST_F(ProcessUnitTest, SaysWhichMembersMayNotBeSignalled) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a process that it then may not signal";
  Child child("sleep", {"1000"});
  ASSERT_TRUE(child.started()) << child.failure();
  ProcessUnit unit(child.pid(), 1);
  constexpr uid_t kNobody = 65534;
  EXPECT_EQ(in_another_process([&] {
              if (setuid(kNobody) != 0) return 2;
              auto sent = unit.signal(UnitSignal::kill, {});
              bool refused = sent.size() == 1 && sent.front().process.pid == child.pid() &&
                             sent.front().delivery == Delivery::not_permitted;
              return refused ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(is_alive(child.pid()));
}

constexpr int kNotPermitted = 77;

/// Hides /proc from this process.
bool hide_processes(const std::string& empty_folder) {
  const auto enter = [&] { return chroot(empty_folder.c_str()) == 0 && chdir("/") == 0; };
  return enter() || (unshare(CLONE_NEWUSER) == 0 && enter());
}

TEST(ProcessUnitWithoutAList, IsTheGroupOfItsLeader) {
  testing::TemporaryDirectory nothing;
  const int code = in_another_process([&] {
    platform::become_subreaper();
    Child child("sh", shell("trap '' TERM; sleep 1000 & echo; wait; wait"));
    if (!child.started() || !read_line(child->output).empty()) return 1;
    if (!hide_processes(nothing.path())) return kNotPermitted;
    // A process looks once what /proc is, and this one did so when it started the child.
    const int signalled = in_another_process([&] {
      if (lists_processes() || !all_processes().empty() || find_process(getpid())) return 2;
      ProcessUnit unit(child.pid(), 1);
      if (pids(unit.members({})) != std::vector<long>{child.pid()}) return 3;
      const auto terminated = unit.signal(UnitSignal::terminate, {});
      if (terminated.size() != 1 || terminated[0].delivery != Delivery::delivered) return 4;
      if (unit.members({}).size() != 1) return 5;
      unit.signal(UnitSignal::kill, {});
      return 0;
    });
    while (waitpid(-1, nullptr, 0) > 0) {  // every process of the group
    }
    if (signalled != 0) return signalled;
    return in_another_process([&] {
      ProcessUnit unit(child.pid(), 1);
      return unit.members({}).empty() && unit.signal(UnitSignal::kill, {}).empty() ? 0 : 6;
    });
  });
  if (code == kNotPermitted) GTEST_SKIP() << "/proc can't be hidden here";
  EXPECT_EQ(code, 0);
}

TEST(ProcessUnitWithoutAList, AListOfAnotherNamespaceIsNotUsed) {
  const int code = in_another_process([] {
    const bool is_alone = unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
    if (!is_alone) return kNotPermitted;
    return in_another_process([] {
      const bool finds_any = !all_processes().empty() || find_process(1);
      return lists_processes() || finds_any || !arguments_of(1).empty() ? 1 : 0;
    });
  });
  if (code == kNotPermitted) GTEST_SKIP() << "no namespace can be had here";
  EXPECT_EQ(code, 0);
}

// If the shell's file were taken for that of the server, a kill would end all shells of this
// machine.

}  // namespace
}  // namespace sitter
