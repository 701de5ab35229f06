#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"
#include "support/terminal.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kOpening =
    R"json({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
)json";

/// A server that is as hard to end as can be: it ignores everything, and so do its children. One of
/// its children is a daemon.
std::vector<std::string> stubborn() {
  return fake({"--ignore-eof", "--ignore-term", "--grandchild", "--grandchild-session"});
}

TEST(End, AllAnswersOfAPipedSessionArePrinted) {
  for (int round = 1; round <= 20; ++round) {
    ScriptedClient client;
    for (int id = 1; id <= 4; ++id) client.owe(id);
    client.program().write(kOpening +
                           R"json({"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"three"}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":10}}})json");
    client.program().close_input();
    for (int id = 1; id <= 4; ++id) EXPECT_TRUE(client.answer(id).contains("result"));
    EXPECT_EQ(client.program().wait(), 0);
  }
}

TEST(End, AnswersAlreadyMadeAreWrittenToASlowReader) {
  ScriptedClient client;
  client.open();
  for (int id = 1; id <= 10; ++id) client.call(id, "big", {{"bytes", 1'000'000}});
  client.program().close_input();
  EXPECT_EQ(client.program().wait(), 0);
  for (int id = 1; id <= 10; ++id) {
    EXPECT_EQ(text_of(client.answer(id)["result"]).size(), 1'000'000);
  }
}

TEST(End, ASignalCutsTheWaitForOwedAnswersShort) {
  ScriptedClient client({.command = stubborn()});
  client.open();
  client.call(1, "hang");
  client.text_of_call("echo");
  client.program().close_input();
  client.program().signal(SIGTERM);
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("shut down with the session"));
  EXPECT_EQ(client.program().wait(), 128 + SIGTERM);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST(End, AnswerThatNeverComesGetsItsError) {
  ScriptedClient client;
  client.open();
  client.call(1, "hang");
  client.program().close_input();
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("shut down with the session"));
  EXPECT_EQ(client.program().wait(), 0);
}

TEST(End, NothingIsLeftOfAStubbornServer) {
  ScriptedClient client({.command = stubborn()});
  client.open();
  // The bridge, its keeper, the child and two grandchildren.
  EXPECT_EQ(client.living().size(), 5);
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST(End, NothingIsLeftOfAWrappedServer) {
  ScriptedClient client(
      {.command = {"sh", "-c", fake_in_shell("--ignore-eof --ignore-term --grandchild") + "; :"}});
  client.open();
  EXPECT_EQ(children_of(client.child_state()["pid"]).size(), 1);
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST(End, BridgeThatStartedNothingEnds) {
  ScriptedClient client;
  EXPECT_EQ(client.end(), 0);
}

TEST(End, ChildIsToldByTheEndOfItsInputFirst) {
  TemporaryDirectory directory;
  const std::string trace = directory / "trace";
  ScriptedClient client({.command = {"sh", "-c", fake_in_shell() + "; echo $? >'" + trace + "'"}});
  client.open();
  client.text_of_call("echo");
  EXPECT_EQ(client.end(), 0);
  std::string code;
  std::ifstream(trace) >> code;
  EXPECT_EQ(code, "0");
}

struct Signal {
  int number;
  std::string name;
};

class EndBySignal : public ::testing::TestWithParam<Signal> {};

TEST_P(EndBySignal, LeavesNothingOfAStubbornServer) {
  ScriptedClient client({.options = {"--kill-grace", "30000"}, .command = stubborn()});
  client.open();
  client.call(1, "hang");
  client.text_of_call("echo");
  EXPECT_EQ(client.living().size(), 5);
  client.program().signal(GetParam().number);
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("shut down with the session"));
  EXPECT_EQ(client.program().wait(), 128 + GetParam().number);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_P(EndBySignal, InTheMiddleOfASlowStartAnswersTheOpening) {
  ScriptedClient client({.command = fake({"--slow-start", "50000", "--ignore-term"})});
  client.request(0, "initialize", {{"protocolVersion", "2025-11-25"}});
  EXPECT_TRUE(eventually([&] { return client.living().size() == 3; }));
  client.program().signal(GetParam().number);
  client.answer(0);
  EXPECT_EQ(client.program().wait(), 128 + GetParam().number);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_P(EndBySignal, WithoutAChildIsAtOnce) {
  ScriptedClient client;
  client.request(1, "ping");
  client.answer(1);
  client.program().signal(GetParam().number);
  EXPECT_EQ(client.program().wait(), 128 + GetParam().number);
}

INSTANTIATE_TEST_SUITE_P(, EndBySignal,
                         ::testing::Values(Signal{SIGTERM, "SIGTERM"}, Signal{SIGINT, "SIGINT"}),
                         [](const auto& one) { return one.param.name; });

TEST(End, ASecondSignalChangesNothing) {
  ScriptedClient client({.command = stubborn()});
  client.open();
  client.program().signal(SIGINT);
  client.program().signal(SIGTERM);
  client.program().signal(SIGINT);
  // The signals may be delivered in another order.
  EXPECT_THAT(client.program().wait(), ::testing::AnyOf(128 + SIGINT, 128 + SIGTERM));
  EXPECT_TRUE(client.leaves_nothing());
}

TEST(End, AKillRightBehindASignalLeavesNothing) {
  for (int round = 1; round <= 5; ++round) {
    ScriptedClient client({.command = stubborn()});
    client.open();
    client.text_of_call("spawn", {{"session", true}, {"ignore_term", true}});
    client.program().signal(SIGTERM);
    client.program().signal(SIGKILL);
    EXPECT_THAT(client.program().wait(), ::testing::AnyOf(128 + SIGTERM, 128 + SIGKILL));
    EXPECT_TRUE(client.leaves_nothing());
  }
}

/// Signals that end the bridge at once, because the bridge cannot or does not handle them.
class SuddenEnd : public ::testing::TestWithParam<Signal> {};

TEST_P(SuddenEnd, LeavesNothingOfAStubbornServer) {
  ScriptedClient client({.command = stubborn()});
  client.open();
  EXPECT_EQ(client.living().size(), 5);
  client.program().signal(GetParam().number);
  EXPECT_EQ(client.program().wait(), 128 + GetParam().number);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_P(SuddenEnd, LeavesNothingOfAWrappedServer) {
  ScriptedClient client(
      {.command = {"sh", "-c", fake_in_shell("--ignore-eof --ignore-term") + "; exit 1"}});
  client.open();
  const std::string spawned =
      client.text_of_call("spawn", {{"session", true}, {"ignore_term", true}});
  EXPECT_TRUE(is_alive(std::stol(spawned)));
  client.program().signal(GetParam().number);
  EXPECT_EQ(client.program().wait(), 128 + GetParam().number);
  EXPECT_TRUE(client.leaves_nothing());
}

INSTANTIATE_TEST_SUITE_P(, SuddenEnd,
                         ::testing::Values(Signal{SIGKILL, "SIGKILL"}, Signal{SIGQUIT, "SIGQUIT"},
                                           Signal{SIGUSR2, "SIGUSR2"}, Signal{SIGALRM, "SIGALRM"}),
                         [](const auto& one) { return one.param.name; });

TEST(End, ClosedStdoutEndsTheBridgeInTheMiddleOfAFlood) {
  ScriptedClient client;
  client.open();
  client.call(1, "big", {{"bytes", 50'000'000}});
  client.program().close_output();
  EXPECT_EQ(client.program().wait(), 0);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST(End, ChildHasNoDescriptorButItsPipes) {
  // The child gets neither the bridge's descriptors nor those that the bridge was started with.
  const OwnDescriptor inherited(open("/dev/null", O_RDONLY));
  ScriptedClient client;
  client.open();
  EXPECT_THAT(descriptors_of(client.child_pid()), ElementsAre(0, 1, 2));
  EXPECT_THAT(descriptors_of(client.program().pid()), Contains(inherited.number()));
}

TEST(End, FlagsOfInheritedStreamsAreAsBefore) {
  for (const int signal : {0, SIGTERM}) {
    Pipe input, output;
    const int bridge_reads = input.read_end.number(), bridge_writes = output.write_end.number();
    ScriptedClient client({.input = bridge_reads, .output = bridge_writes});
    ASSERT_EQ(write(input.write_end.number(), kOpening.data(), kOpening.size()),
              static_cast<ssize_t>(kOpening.size()));
    char answer[4096];
    ASSERT_GT(read(output.read_end.number(), answer, sizeof answer), 0);
    if (signal == 0) {
      input.write_end.close();
      EXPECT_EQ(client.program().wait(), 0);
    } else {
      client.program().signal(signal);
      EXPECT_EQ(client.program().wait(), 128 + signal);
    }
    EXPECT_EQ(fcntl(bridge_reads, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(fcntl(bridge_writes, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST(End, ATerminalAsStdinIsLeftAsItWas) {
  const Terminal sides;
  const int master = sides.person.number(), terminal = sides.program.number();
  termios before{}, after{};
  tcgetattr(terminal, &before);
  const int flags = fcntl(terminal, F_GETFL);

  ScriptedClient client({.input = terminal});
  client.owe(1);
  ASSERT_EQ(write(master, kOpening.data(), kOpening.size()), static_cast<ssize_t>(kOpening.size()));
  EXPECT_TRUE(client.answer(1).contains("result"));
  // The file description of the terminal is shared with the shell that started the bridge.
  EXPECT_EQ(fcntl(terminal, F_GETFL), flags);
  const char end_of_input = before.c_cc[VEOF];
  ASSERT_EQ(write(master, &end_of_input, 1), 1);
  EXPECT_EQ(client.program().wait(), 0);
  EXPECT_EQ(fcntl(terminal, F_GETFL), flags);
  tcgetattr(terminal, &after);
  EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
}

TEST(End, ClosedStandardStreamsAreNoHarm) {
  for (const std::string streams : {"<&- >&-", "<&-", ">&-", "<&- >&- 2>&-"}) {
    Program program(
        {.command = {"/bin/sh", "-c", "exec '" + sitter_program() + "' -- cat " + streams}});
    program.close_input();
    EXPECT_EQ(program.wait(), 0) << streams;
  }
}

}  // namespace
}  // namespace sitter::testing
