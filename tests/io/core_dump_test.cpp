#include "io/process/core_dump.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::HasSubstr;

constexpr long kPid = 4711;

std::string where(const std::string& pattern, const std::string& cwd = "/", WallTime started = {}) {
  return core_dump_at(pattern, kPid, "/bin/server", cwd, started).where;
}

TEST(CoreDump, APlainPatternNamesTheFileIfItIsNewerThanTheStart) {
  const testing::TemporaryDirectory folder;
  const std::string file = folder.path() + "/core.server.4711";
  std::ofstream(file) << "x";
  EXPECT_THAT(where("core.%e.%p", folder.path()), HasSubstr(file + ": gdb /bin/server " + file));
  EXPECT_THAT(where(folder.path() + "/core.%e.%p"), HasSubstr(file));
  EXPECT_EQ(
      where("core.%e.%p", folder.path(), std::chrono::system_clock::now() + std::chrono::hours(1)),
      "");
  EXPECT_EQ(where("other.%p", folder.path()), "");
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
  EXPECT_EQ(stack_in("No stack.\n"), "");
}

}  // namespace
}  // namespace sitter
