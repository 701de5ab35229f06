#include "io/files/binary_info.hpp"

#include <gtest/gtest.h>

#include <random>

#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using testing::shell;

class BinaryInfoTest : public testing::CommandTest {
 protected:
  BinaryInfo inspect_running(const LaunchRequest& what) {
    Child child(what);
    expect_answer(child);
    return child.started() ? inspect(what, child.pid()) : BinaryInfo{};
  }
};

TEST_F(BinaryInfoTest, ACommandThatIsItsOwnProgramIsReported) {
  directory_.write("server", "12345", 0755);
  BinaryInfo info = inspect(request("./server"), 0);
  EXPECT_EQ(info.path, directory_ / "server");
  EXPECT_TRUE(info.exists);
  EXPECT_EQ(info.size, 5U);
  EXPECT_FALSE(info.interpreter);
  EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - info.mtime), std::chrono::hours(1));
  struct stat facts {};
  ASSERT_EQ(stat(info.path.c_str(), &facts), 0);
  EXPECT_EQ(info.inode, facts.st_ino);
}

TEST_F(BinaryInfoTest, MissingProgramIsNamedByItsPath) {
  BinaryInfo info = inspect(request("./server"), 0);
  EXPECT_EQ(info.path, directory_ / "server");
  EXPECT_FALSE(info.exists);
  info = inspect(request("no-such-tool"), 0);
  EXPECT_EQ(info.path, "no-such-tool");
  EXPECT_FALSE(info.exists);
}

TEST_F(BinaryInfoTest, AnAbsolutePathIsKnownAlsoIfTheWorkingDirectoryIsNot) {
  LaunchRequest what = request(directory_.write("server", "12345", 0755));
  what.cwd = "/no/such/directory";
  BinaryInfo info = inspect(what, 0);
  EXPECT_EQ(info.path, directory_ / "server");
  EXPECT_TRUE(info.exists);
}

TEST_F(BinaryInfoTest, AScriptIsReportedWithItsInterpreter) {
  directory_.write("server.sh", "exit\n");
  BinaryInfo info = inspect(request("sh", {"-e", "server.sh"}), 0);
  EXPECT_EQ(info.path, directory_ / "server.sh");
  EXPECT_EQ(info.size, 5U);
  ASSERT_TRUE(info.interpreter);
  EXPECT_EQ(std::filesystem::path(info.interpreter->path).filename(), "sh");
  EXPECT_GT(info.interpreter->size, 0U);
  EXPECT_GT(info.interpreter->mtime, WallTime());
}

TEST_F(BinaryInfoTest, ScriptThatIsRunDirectlyNamesItsInterpreter) {
  directory_.write("direct", "#!/bin/sh\n", 0755);
  directory_.write("by_env", "#!/usr/bin/env -S X=1 sh -e\n", 0755);
  directory_.write("lost", "#!/no/such/runner\n", 0755);
  BinaryInfo info = inspect(request("./direct"), 0);
  EXPECT_EQ(info.path, directory_ / "direct");
  ASSERT_TRUE(info.interpreter);
  EXPECT_EQ(info.interpreter->path, "/bin/sh");
  info = inspect(request("./by_env"), 0);
  ASSERT_TRUE(info.interpreter);
  EXPECT_TRUE(std::filesystem::path(info.interpreter->path).is_absolute());
  EXPECT_EQ(std::filesystem::path(info.interpreter->path).filename(), "sh");
  info = inspect(request("./lost"), 0);
  ASSERT_TRUE(info.interpreter);
  EXPECT_EQ(info.interpreter->path, "/no/such/runner");
  EXPECT_EQ(info.interpreter->size, 0U);
}

TEST_F(BinaryInfoTest, FindsTheProgramBehindAShellByItsPipe) {
  std::string server = directory_.copy_program("server", "/bin/cat");
  directory_.copy_program("beside", "/bin/sleep");
  auto what = request("sh", shell("./beside 1000 & ./server; true"));
  BinaryInfo info = inspect_running(what);
  EXPECT_EQ(info.path, server);
  EXPECT_TRUE(info.exists);
  EXPECT_FALSE(info.interpreter);
}

TEST_F(BinaryInfoTest, FindsTheProgramThatAScriptedRunnerStarted) {
  directory_.write("bin/npx", "#!/bin/sh\nsh -c 'sh ./server.sh; true' --; true\n", 0755);
  directory_.write("server.sh", "cat; true\n");
  // This argument belongs to the server and not to the runner.
  directory_.write("argument.sh", "");
  auto what = request("bin/npx", {"-y", "pkg", "argument.sh"});
  BinaryInfo info = inspect_running(what);
  EXPECT_EQ(info.path, directory_ / "server.sh");
  ASSERT_TRUE(info.interpreter);
  // Nothing runs, so only the arguments can tell.
  EXPECT_EQ(inspect(what, 0).path, directory_ / "argument.sh");
}

TEST_F(BinaryInfoTest, AScriptOfAShellShowsTheProgramBehindItWhileItRuns) {
  const std::string server = directory_.copy_program("server", "/bin/cat");
  directory_.write("replaced.sh", "#!/bin/sh\nexec ./server\n", 0755);
  directory_.write("stays.sh", "#!/bin/sh\n./server; true\n", 0755);
  directory_.write("inner.sh", "./server; true\n");
  directory_.write("outer.sh", "#!/bin/sh\nexec sh inner.sh\n", 0755);
  directory_.write("alone.sh", "#!/bin/sh\nread line; echo $line\nread line\n", 0755);
  const auto command = [&](const std::string& word, std::vector<std::string> arguments = {}) {
    return request(word, std::move(arguments));
  };
  for (const LaunchRequest& what :
       {command("./replaced.sh"), command("./stays.sh"), command("sh", {"stays.sh"}),
        command("./outer.sh"), command("env", {"A=1", "./stays.sh"})}) {
    const BinaryInfo info = inspect_running(what);
    EXPECT_TRUE(info.path.ends_with(".sh")) << info.path;
    ASSERT_TRUE(info.behind) << info.path;
    EXPECT_EQ(info.behind->path, server);
    EXPECT_GT(info.behind->mtime, WallTime());
    EXPECT_FALSE(inspect(what, 0).behind);
  }
  EXPECT_FALSE(inspect_running(command("./alone.sh")).behind);
  // What a script runs first is no server.
  directory_.write("waits.sh", "#!/bin/sh\n/bin/cat; exec ./server\n", 0755);
  EXPECT_FALSE(inspect_running(command("./waits.sh")).behind);
}

TEST_F(BinaryInfoTest, WithoutAFileTheCommandIsReportedAsMissing) {
  BinaryInfo info = inspect(request("sh", {"-c", "exit 0"}), 0);
  EXPECT_EQ(info.path, "sh");
  EXPECT_FALSE(info.exists);
  directory_.write("docker", "#!/bin/sh\n", 0755);
  directory_.write("compose.sh", "");
  info = inspect(request("./docker", {"run", "compose.sh"}), 0);
  EXPECT_EQ(info.path, "./docker");
  EXPECT_FALSE(info.exists);
}

TEST_F(BinaryInfoTest, ProcessThatIsGoneIsNoHarm) {
  EXPECT_EQ(inspect(request("sh", {"-c", "exit 0"}), 0x7FFFFFF0).path, "sh");
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

std::string elf_file() {
  std::string bytes(200, '\0');
  bytes.replace(0, 6,
                "\x7F"
                "ELF\x02\x01");
  put(bytes, 32, 64, 8);   // where the program headers are
  put(bytes, 54, 56, 2);   // their size
  put(bytes, 56, 1, 2);    // their number
  put(bytes, 64, 4, 4);    // a segment of notes
  put(bytes, 72, 120, 8);  // where it is
  put(bytes, 96, 44, 8);   // its size
  put(bytes, 120, 4, 4);   // a note of another kind
  put(bytes, 124, 3, 4);
  put(bytes, 128, 1, 4);
  bytes.replace(132, 4, std::string("GNU\0", 4));
  put(bytes, 140, 4, 4);  // the build id
  put(bytes, 144, 4, 4);
  put(bytes, 148, 3, 4);
  bytes.replace(152, 4, std::string("GNU\0", 4));
  bytes.replace(156, 4, "\xDE\xAD\x0B\xEF");
  return bytes;
}

std::string mach_file() {
  std::string bytes(100, '\0');
  put(bytes, 0, 0xFEEDFACF, 4);
  put(bytes, 16, 2, 4);   // load commands
  put(bytes, 20, 40, 4);  // their size
  put(bytes, 32, 1, 4);   // a command of another kind
  put(bytes, 36, 16, 4);
  put(bytes, 48, 0x1B, 4);  // the UUID
  put(bytes, 52, 24, 4);
  for (std::size_t i = 0; i < 16; ++i) put(bytes, 56 + i, i, 1);
  return bytes;
}

TEST_F(BinaryInfoTest, ReadsTheBuildIdOfAnElfFile) {
  EXPECT_EQ(build_id_of(directory_.write("elf", elf_file())), "dead0bef");
}

TEST_F(BinaryInfoTest, ReadsTheUuidOfAMachFileAlsoWithinAFatOne) {
  constexpr const char* kUuid = "000102030405060708090a0b0c0d0e0f";
  EXPECT_EQ(build_id_of(directory_.write("thin", mach_file())), kUuid);
  std::string fat(64, '\0');
  fat.replace(0, 4, "\xCA\xFE\xBA\xBE");
  fat[7] = 1;
  fat[19] = 64;
  EXPECT_EQ(build_id_of(directory_.write("fat", fat + mach_file())), kUuid);
}

TEST_F(BinaryInfoTest, OtherFilesHaveNoBuildId) {
  EXPECT_EQ(build_id_of(directory_.write("text", std::string(200, 'x'))), "");
  EXPECT_EQ(build_id_of(directory_.write("empty", "")), "");
  EXPECT_EQ(build_id_of(directory_ / "missing"), "");
  EXPECT_EQ(build_id_of(directory_.path()), "");
  ASSERT_EQ(mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(build_id_of(directory_ / "fifo"), "");
}

TEST_F(BinaryInfoTest, TheBuildIdOfAHostileFileIsShortHexOrEmpty) {
  constexpr std::size_t kDigitsMax = 128;
  const auto expect_good_id = [&](const std::string& file) {
    const std::string id = build_id_of(file);
    EXPECT_LE(id.size(), kDigitsMax);
    EXPECT_EQ(id.size() % 2, 0u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos) << id;
  };
  std::minstd_rand random(1);
  for (const std::string& whole : {elf_file(), mach_file()}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      expect_good_id(directory_.write("cut", whole.substr(0, length)));
    }
    for (int round = 0; round < 300; ++round) {
      std::string bytes = whole;
      for (int i = 0; i < 4; ++i)
        bytes[random() % bytes.size()] = static_cast<char>(random() % 3 - 1);
      expect_good_id(directory_.write("changed", bytes));
    }
  }
}

}  // namespace
}  // namespace sitter
