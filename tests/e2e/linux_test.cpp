// What only Linux lets a test arrange or see.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/http_daemon.hpp"
#include "support/memory_watch.hpp"
#include "support/own_descriptor.hpp"
#include "support/proc_status.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kMegabyte = 1'000'000;

/// From now on, this test and the programs that it starts run on one processor.
class OneCpu {
 public:
  OneCpu() {
    sched_getaffinity(0, sizeof before_, &before_);
    int cpu = 0;
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &before_)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

TEST(Start, OnOneCpuTheOpeningIsAnsweredAndCallsAreServed) {
  const OneCpu limited;
  ScriptedClient client;
  EXPECT_EQ(client.open()["serverInfo"]["name"], "fake-mcp");
  EXPECT_EQ(client.text_of_call("echo", {{"text", "hello"}}), "hello");
  const std::string cpu = status_field(client.program().pid(), "Cpus_allowed_list");
  EXPECT_THAT(cpu, ::testing::MatchesRegex("[0-9]+"));
  EXPECT_EQ(status_field(client.child_pid(), "Cpus_allowed_list"), cpu);
}

TEST(End, ChildHasDefaultSignalDispositions) {
  ScriptedClient client({.command = {"sleep", "30"}});
  client.request(0, "initialize", {{"protocolVersion", "2025-11-25"}});
  const long pid = client.child_pid();
  // When the child runs its command, the values are those of the command itself.
  EXPECT_TRUE(eventually([&] { return command_line_of(pid).starts_with("sleep"); }));
  for (const char* field : {"SigBlk", "SigIgn", "SigCgt"}) {
    EXPECT_EQ(status_field(pid, field), "0000000000000000") << field;
  }
  // Everybody runs this file, so the kill is limited to the child.
  client.text_of_call("sitter_kill", {{"scope", "child"}});
  client.answer(0);
}

/// A socket for the bridge's stdout that keeps separate writes apart.
struct Packets {
  Packets() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ours = OwnDescriptor(ends[0]);
    bridges = OwnDescriptor(ends[1]);
    const timeval patience{std::chrono::seconds(kPatience).count(), 0};
    setsockopt(ours.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  std::string next() const {
    std::string bytes(1 << 16, '\0');
    const ssize_t count = recv(ours.number(), bytes.data(), bytes.size(), 0);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return bytes;
  }

  OwnDescriptor ours, bridges;
};

/// A session whose client sees each write of the bridge by itself.
struct PacketSession {
  PacketSession() : client({.output = packets.bridges.number()}) {
    client.send(
        R"json({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})json");
    packets.next();
  }

  Packets packets;
  ScriptedClient client;
};

TEST(Session, AnswerBehindItsProgressIsAWriteOfItsOwn) {
  PacketSession session;
  auto& [packets, client] = session;
  client.notify("notifications/initialized");
  for (int round = 1; round <= 10; ++round) {
    client.call(round, "progress", {{"steps", 3}, {"burst", true}});
    ASSERT_TRUE(client.program().flush());
    // Without a token there is no progress, and no reason for a second write.
    EXPECT_THAT(packets.next(), HasSubstr("3 steps"));
    client.request(round, "tools/call",
                   {{"name", "progress"},
                    {"arguments", {{"steps", 3}, {"burst", true}}},
                    {"_meta", {{"progressToken", round}}}});
    ASSERT_TRUE(client.program().flush());
    std::string progress;
    while (lines_of(progress).size() < 3) {
      const std::string packet = packets.next();
      ASSERT_FALSE(packet.empty());
      progress += packet;
    }
    EXPECT_EQ(lines_of(progress).size(), 3);
    ASSERT_THAT(progress, Not(HasSubstr("3 steps")));
    const std::string answer = packets.next();
    EXPECT_EQ(lines_of(answer).size(), 1);
    EXPECT_THAT(answer, HasSubstr("3 steps"));
  }
}

TEST(Session, LinesOfOneReadGoOutInOneWrite) {
  PacketSession session;
  auto& [packets, client] = session;
  // The bridge reads both lines at once, and answers both itself.
  client.program().write(
      R"json({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sitter_child_stderr"}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sitter_child_stderr"}}
)json");
  EXPECT_EQ(lines_of(packets.next()).size(), 2);
}

TEST(End, ClosedStdoutEndsTheBridge) {
  ScriptedClient client(
      {.command = fake({"--ignore-eof", "--ignore-term", "--grandchild", "--grandchild-session"})});
  client.open();
  client.program().close_output();
  EXPECT_EQ(client.program().wait(), 0);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST(Http, AKillNamesTheDaemonThatItLeaves) {
  HttpDaemon daemon;
  daemon.start();
  ScriptedClient client(bridge_to(daemon.url()));
  client.open();
  EXPECT_THAT(client.text_of_call("sitter_kill"),
              HasSubstr("pid " + std::to_string(daemon.program().pid())));
}

TEST(Flood, ClientThatStopsReadingSlowsTheChildDown) {
  ScriptedClient client;
  client.open();
  const MemoryWatch memory(client);
  const long child = client.child_pid();
  const std::size_t size = 2 * kMegabyte;
  for (int id = 1; id <= 60; ++id) client.call(id, "big", {{"bytes", size}});
  ASSERT_TRUE(come_to_rest({client.program().pid(), child}));
  const auto written = bytes_moved(child).written;
  EXPECT_GT(written, 0);
  EXPECT_LT(written, 60 * size);
  for (int id = 1; id <= 60; ++id) {
    EXPECT_EQ(text_of(client.answer(id)["result"]).size(), size);
  }
  memory.expect_bounded(size);
  memory.expect_given_back();
  EXPECT_EQ(client.child_pid(), child);
}

TEST(Memory, AQuietBridgeHoldsLittleOfItsProgram) {
  ScriptedClient client;
  client.open();
  client.status();
  const auto held = [pid = client.program().pid()] {
    return std::atol(status_field(pid, "RssFile").c_str());
  };
  const long at_work = held();
  EXPECT_TRUE(eventually([&] { return held() < at_work - 1000; })) << at_work << " kB";
  EXPECT_EQ(client.text_of_call("echo", {{"text", "again"}}), "again");
}

TEST(Flood, EndIsNoticedWhileTheClientTakesNothing) {
  ScriptedClient client({.options = {"--log-level", "off"}});
  client.open();
  std::string lines;
  for (int line = 0; line < 200'000; ++line) lines += "x\n";
  client.program().write(lines);
  ASSERT_TRUE(come_to_rest({client.program().pid()}));
  client.program().close_input();
  EXPECT_TRUE(eventually([&] { return !is_alive(client.program().pid()); }));
  EXPECT_EQ(client.program().wait(), 0);
}

TEST(Flood, FullDiskOfTheLogIsToldOnStderr) {
  ScriptedClient client({.options = {"--log-file", "/dev/full", "--log-level", "debug"}});
  client.open();
  EXPECT_EQ(client.text_of_call("echo", {{"text", "through"}}), "through");
  EXPECT_TRUE(client.program().shows_error("the log file can't be written"));
  EXPECT_EQ(client.end(), 0);
}

/// The bridge runs in a pid namespace of its own, in which /proc shows other processes.
TEST(WithoutAListOfProcesses, AKillEndsTheServerAndItsGroup) {
  const std::vector<std::string> alone = {"/usr/bin/env", "unshare", "--pid", "--fork",
                                          "--kill-child"};
  std::vector<std::string> command = alone;
  command.emplace_back("true");
  if (Program({.command = command}).wait() != 0) GTEST_SKIP() << "no namespace can be had here";

  command = alone;
  command.insert(command.end(), {sitter_program(), "--kill-grace", "0", "--"});
  for (const std::string& word : fake({"--ignore-eof", "--ignore-term", "--grandchild"})) {
    command.push_back(word);
  }
  const std::string mark = "SITTER_ALONE_" + std::to_string(getpid()) + "=1";
  Program program({.command = command, .environment = {mark}});
  const auto fakes = [&] {
    const std::vector<long> pids = processes_with(mark);
    return std::count_if(pids.begin(), pids.end(), [](long pid) {
      return command_line_of(pid).find("--grandchild") != std::string::npos &&
             status_field(pid, "Name") == "fake-mcp";
    });
  };
  program.write(
      R"json({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
)json");
  EXPECT_THAT(program.read_line().value_or(""), HasSubstr("\"id\":1"));
  EXPECT_EQ(fakes(), 2);
  program.write(
      R"json({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sitter_kill","arguments":{"scope":"child"}}}
)json");
  EXPECT_THAT(program.read_line().value_or(""), HasSubstr("SIGKILL"));
  EXPECT_TRUE(eventually([&] { return fakes() == 0; }));
  program.close_input();
  EXPECT_EQ(program.wait(), 0);
  EXPECT_TRUE(eventually([&] { return processes_with(mark).empty(); }));
}

TEST(StoppedBridge, ReadsWhatWasWrittenBeforeTheExitHoweverLate) {
  for (int round = 0; round < 5; ++round) {
    ScriptedClient client;
    client.open();
    const long child = client.child_pid();
    client.call(1, "sleep", {{"ms", 50}});
    client.call(2, "crash", {{"after_ms", 100}, {"stderr", "index out of range"}});
    client.echo("both have arrived");
    client.program().signal(SIGSTOP);
    EXPECT_TRUE(eventually([&] { return status_field(child, "State").starts_with("Z"); }));
    client.program().signal(SIGCONT);
    EXPECT_EQ(text_of(client.answer(1)["result"]), "slept");
    EXPECT_THAT(text_of(client.answer(2)["result"]), HasSubstr("index out of range"));
  }
}

// While the bridge is stopped, all runs end, and as many calls again wait for their turn.
TEST(StoppedBridge, ReadsTheOutputOfAllRunsThatHaveEndedMeanwhile) {
  constexpr std::size_t kRuns = 256;
  const TemporaryDirectory directory;
  const OwnDescriptor gate(
      open((directory / "gate").c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(gate.number(), LOCK_EX), 0);
  directory.write("tools.json", R"json([{"name": "tell",
      "parameters": {"properties": {"n": {"type": "integer"}}},
      "cli_command": ["-c", "exec flock -s gate echo \"[$0]\"", "{n}"]}])json");
  ScriptedClient client({.options = {"--cli", "sh", "--schema-file", "tools.json", "--max-calls",
                                     std::to_string(kRuns)},
                         .command = {},
                         .cwd = directory.path()});
  client.open();
  for (std::size_t n = 1; n <= 3 * kRuns; ++n) client.call(static_cast<int>(n), "tell", {{"n", n}});
  const auto count = [&](const std::string& field, const std::string& begin) {
    const std::vector<long> runs = children_of(client.program().pid());
    return std::count_if(runs.begin(), runs.end(),
                         [&](long pid) { return status_field(pid, field).starts_with(begin); });
  };
  ASSERT_TRUE(eventually([&] { return count("Name", "flock") == kRuns; }));
  client.program().signal(SIGSTOP);
  flock(gate.number(), LOCK_UN);
  ASSERT_TRUE(eventually([&] { return count("State", "Z") == kRuns; }));
  client.program().signal(SIGCONT);
  for (std::size_t n = 1; n <= 3 * kRuns; ++n) {
    EXPECT_EQ(text_of(client.answer(static_cast<int>(n))["result"]),
              "[" + std::to_string(n) + "]\n");
  }
}

}  // namespace
}  // namespace sitter::testing
