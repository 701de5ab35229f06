#include "io/process/core_dump.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "support/processes.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr long kPid = 4711;

std::string where(const std::string& pattern, const std::string& cwd = "/", WallTime started = {}) {
  return core_dump_at(pattern, {kPid, {139, "SIGSEGV"}}, "/bin/server", cwd, started).where;
}

/// The first bytes of a file of the type ET_CORE or, with another number, of another type (elf(5)).
std::string elf(char type) {
  return "\177ELF" + std::string(12, '\0') + type + std::string(50, '\0');
}

TEST(CoreDump, APlainPatternNamesTheFileIfItIsNewerThanTheStart) {
  const testing::TemporaryDirectory folder;
  const std::string file = folder.path() + "/core.server.4711";
  std::ofstream(file) << elf(4);
  EXPECT_THAT(where("core.%e.%p", folder.path()), HasSubstr(file + ": gdb /bin/server " + file));
  EXPECT_THAT(where(folder.path() + "/core.%e.%p"), HasSubstr(file));
  EXPECT_EQ(
      where("core.%e.%p", folder.path(), std::chrono::system_clock::now() + std::chrono::hours(1)),
      "");
  EXPECT_EQ(where("other.%p", folder.path()), "");
}

TEST(CoreDump, WhatOnlyHasTheNameIsNoDump) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder / "core";
  std::filesystem::create_directory(path);
  EXPECT_EQ(where("core", folder.path()), "");
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(where("core", folder.path()), "");
  for (const std::string& text : {std::string("text"), elf(2), elf(3), elf(4).substr(0, 16)}) {
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    EXPECT_EQ(where("core", folder.path()), "");
  }
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/zero", path);
  EXPECT_EQ(where("core", folder.path()), "");
}

TEST(CoreDump, ThePathIsQuotedForAShell) {
  const testing::TemporaryDirectory folder;
  const std::string file = folder.write("a b;c/core", elf(4));
  EXPECT_THAT(where("core", folder / "a b;c"), HasSubstr(": gdb /bin/server '" + file + "'"));
}

TEST(CoreDump, IsSoughtOnlyIfTheSystemHasMadeOne) {
  const testing::TemporaryDirectory folder;
  folder.write("core", elf(4));
  const auto sought = [&folder](bool left_core) {
    const Reaped ended{kPid, {139, "SIGSEGV"}, left_core};
    return core_dump_of(ended, "/bin/server", folder.path(), {}).where;
  };
  EXPECT_THAT(sought(false), Not(HasSubstr("core dump is")));
  EXPECT_THAT(sought(true), Not(HasSubstr("left no core dump")));
}

TEST(CoreDump, BehindAShellTheLastOneIsShown) {
  const Reaped shell{kPid, {139, ""}};
  EXPECT_EQ(core_dump_at("|/usr/lib/systemd/systemd-coredump", shell, "/bin/sh", "/", {}).where,
            "coredumpctl info shows its core dump");
}

TEST(CoreDump, AFileTimeMayBeATickBehind) {
  const testing::TemporaryDirectory folder;
  folder.write("core", elf(4));
  const auto after = [&folder](int milliseconds) {
    return where("core", folder.path(),
                 std::chrono::system_clock::now() + std::chrono::milliseconds(milliseconds));
  };
  EXPECT_NE(after(5), "");
  EXPECT_EQ(after(1000), "");
}

TEST(CoreDump, WhatIsNotFoundIsExplained) {
  const testing::TemporaryDirectory folder;
  for (const bool by_signal : {true, false}) {
    for (const bool left_core : {true, false}) {
      const Reaped ended{kPid, {139, by_signal ? "SIGSEGV" : ""}, left_core};
      EXPECT_THAT(core_dump_of(ended, "/bin/server", folder.path(), {}).where,
                  HasSubstr("core dump"));
    }
  }
}

TEST(CoreDump, WithoutALimitTheWayIsAnother) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_CORE, &before), 0);
  const auto explained = [&before](rlim_t limit) {
    const rlimit set{limit, before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_CORE, &set), 0);
    const Reaped ended{kPid, {139, "SIGSEGV"}, false};
    return core_dump_of(ended, "/bin/server", "/", {}).where;
  };
  EXPECT_THAT(explained(0), HasSubstr("ulimit -c unlimited"));
  EXPECT_THAT(explained(before.rlim_max == 0 ? 0 : 1),
              HasSubstr(before.rlim_max == 0 ? "ulimit" : "(see core(5))"));
  EXPECT_EQ(setrlimit(RLIMIT_CORE, &before), 0);
}

TEST(CoreDump, ANewReaderEndsTheOneBefore) {
  EventLoop loop;
  std::optional<StackReader> reader;
  reader.emplace(loop, std::vector<std::string>{"sh", "-c", "sleep 1000; true"},
                 [](const std::string&) {});
  reader.reset();
  EXPECT_TRUE(testing::eventually([] {
    for (const Reaped& ended : reap()) {
      if (ended.status.signal == "SIGKILL") return true;
    }
    return false;
  }));
}

TEST(CoreDump, AProgramThatTakesTheDumpIsNamed) {
  EXPECT_EQ(where("|/usr/lib/systemd/systemd-coredump %P %u"),
            "coredumpctl info 4711 shows its core dump");
  EXPECT_THAT(where("|/usr/share/apport/apport -p%p"), HasSubstr("/var/crash"));
  EXPECT_EQ(where("|/usr/bin/collect %p"), "Its core dump went to the program /usr/bin/collect");
}

TEST(CoreDump, OnlySomeSignalsLeaveOne) {
  EXPECT_TRUE(leaves_core({139, "SIGSEGV"}));
  EXPECT_FALSE(leaves_core({137, "SIGKILL"}));
  EXPECT_FALSE(leaves_core({3, ""}));
  EXPECT_TRUE(leaves_core({.code = 134, .passed_on = "SIGABRT"}));
  EXPECT_FALSE(leaves_core({.code = 143, .passed_on = "SIGTERM"}));
}

TEST(CoreDump, TheStackIsOneLine) {
  EXPECT_EQ(stack_in("Program terminated.\n"
                     "#0  0x0000564f2f3bc145 in inner (p=...) at crash.c:3\n"
                     "3\tint x;\n"
                     "#0  0x0000564f2f3bc145 in inner (p=...) at crash.c:3\n"
                     "#1  outer (n=...) at crash.c:4\n"
                     "#2  0x0000564f2f3bc18a in main ()"),
            "inner at crash.c:3 < outer at crash.c:4 < main");
  EXPECT_EQ(stack_in("                #0  0x00007f01 raise (libc.so.6 + 0x3c)\n"
                     "                #1  0x00007f02 main (server + 0x11)\n"),
            "raise < main");
  EXPECT_EQ(stack_in("Stack trace of thread 7:\n#0  0x00007f01 main (server + 0x11)\n\n"
                     "Stack trace of thread 8:\n#0  0x00007f02 __poll (libc.so.6 + 0x3c)\n"),
            "main");
  EXPECT_EQ(stack_in("No stack.\n"), "");
}

}  // namespace
}  // namespace sitter
