#include "io/http/resolver.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/process/reaper.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/signals.hpp"
#include "support/loop_steps.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::runs_until;

/// A resolver with hosts and a program of its own.
class ResolverTest : public ::testing::Test {
 protected:
  ResolverTest() {
    options_.hosts_file = directory_.write("hosts", "");
    reap();  // what other tests have left
  }

  void hosts(const std::string& text) { directory_.write("hosts", text); }
  /// The program that looks a name up.
  void program(const std::string& commands) {
    options_.command.front() = directory_.write_script("lookup", commands);
  }
  void start(const std::string& name) {
    found_.reset();
    resolver_ = std::make_unique<Resolver>(
        loop_, options_, name, [this](const Resolver::Found& found) { found_ = found; });
    EXPECT_FALSE(found_);
  }
  bool is_answered() {
    return runs_until(loop_, [&] { return found_.has_value(); });
  }
  /// The addresses, or the reason.
  std::vector<std::string> look_up(const std::string& name) {
    start(name);
    if (!is_answered()) return {"no answer"};
    if (found_->addresses.empty()) return {found_->reason};
    std::vector<std::string> texts;
    for (const auto& address : found_->addresses) texts.push_back(address.to_string());
    return texts;
  }
  /// Waits until the program has ended. Returns how.
  static std::string end_of_program() {
    std::vector<Reaped> reaped;
    EXPECT_TRUE(testing::eventually([&] {
      reaped = reap();
      return !reaped.empty();
    }));
    if (reaped.size() != 1) return "not one program";
    const ExitStatus& status = reaped.front().status;
    return status.signal.empty() ? std::to_string(status.code) : status.signal;
  }

  testing::TemporaryDirectory directory_;
  Resolver::Options options_;
  EventLoop loop_;
  std::optional<Resolver::Found> found_;
  std::unique_ptr<Resolver> resolver_;
};

TEST_F(ResolverTest, AnAddressStandsForItself) {
  options_.command.front() = "/nowhere";
  EXPECT_THAT(look_up("127.0.0.1"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(look_up("::1"), ElementsAre("::1"));
  EXPECT_THAT(look_up("2001:db8::7"), ElementsAre("2001:db8::7"));
}

TEST_F(ResolverTest, LocalhostIsThisMachineWhateverTheFileSays) {
  hosts("10.0.0.1 localhost app.localhost\n");
  options_.command.front() = "/nowhere";
  for (const char* const name : {"localhost", "localhost.", "app.localhost", "a.b.localhost."}) {
    EXPECT_THAT(look_up(name), ElementsAre("127.0.0.1", "::1")) << name;
  }
}

TEST_F(ResolverTest, TheFileOfHostsIsReadBeforeTheProgramIsAsked) {
  hosts(
      "# the machines\n"
      "192.0.2.1\tdaemon daemon.example # not other\n"
      "  2001:db8::1   DAEMON\r\n"
      "192.0.2.1 daemon\n"
      "nonsense daemon\n"
      "192.0.2.9 daemon2\n"
      "192.0.2.3 last");
  options_.command.front() = "/nowhere";
  EXPECT_THAT(look_up("daemon"), ElementsAre("192.0.2.1", "2001:db8::1"));
  EXPECT_THAT(look_up("daemon.example."), ElementsAre("192.0.2.1"));
  EXPECT_THAT(look_up("last"), ElementsAre("192.0.2.3"));
  EXPECT_THAT(look_up("other"),
              ElementsAre("the name other can't be looked up: there is no program /nowhere"));
}

TEST_F(ResolverTest, OfTheFileOfHosts16MiBAreRead) {
  const std::string line = "192.0.2.1 daemon\n";
  program("exit 2");
  hosts(std::string(limits::kHostsBytesMax - line.size(), '\n') + line + "192.0.2.2 other\n");
  EXPECT_THAT(look_up("daemon"), ElementsAre("192.0.2.1"));
  EXPECT_THAT(look_up("other"), ElementsAre("the name other is not known"));
  EXPECT_EQ(end_of_program(), "2");
}

TEST_F(ResolverTest, TheProgramPrintsTheAddresses) {
  program("echo \"$*\" > " + directory_ / "arguments" +
          "\n"
          "printf '%s\\n' '192.0.2.7      STREAM daemon.example' '192.0.2.7      DGRAM' "
          "'192.0.2.7      RAW' '2001:db8::7    STREAM' 'rubbish'");
  EXPECT_THAT(look_up("daemon.example"), ElementsAre("192.0.2.7", "2001:db8::7"));
  EXPECT_EQ(end_of_program(), "0");
  std::string line;
  std::getline(std::ifstream(directory_ / "arguments") >> std::ws, line);
  EXPECT_EQ(line, "ahosts daemon.example");
}

TEST_F(ResolverTest, TheProgramMayPrintAsOnMacOs) {
  program(
      "printf '%s\\n' 'name: daemon.example' 'ipv6_address: 2001:db8::7' '' "
      "'name: daemon.example' 'ip_address: 192.0.2.7 192.0.2.8'");
  EXPECT_THAT(look_up("daemon.example"), ElementsAre("2001:db8::7", "192.0.2.7"));
}

TEST_F(ResolverTest, ANameThatTheProgramDoesNotFindIsNotKnown) {
  program("exit 2");
  EXPECT_THAT(look_up("xyz"), ElementsAre("the name xyz is not known"));
  EXPECT_EQ(end_of_program(), "2");
}

TEST_F(ResolverTest, TheProgramOfThisSystemIsFoundInThePath) {
  EXPECT_THAT(options_.command, ElementsAre("getent", "ahosts"));
  // Without a network, this is not known either.
  EXPECT_THAT(look_up("nowhere.invalid"), ElementsAre("the name nowhere.invalid is not known"));
  EXPECT_EQ(end_of_program(), "2");
}

TEST_F(ResolverTest, WhatLooksLikeAnOptionIsNoName) {
  program("echo 192.0.2.7");
  EXPECT_THAT(look_up("-s"), ElementsAre("the name -s is not known"));
  EXPECT_THAT(reap(), IsEmpty());
}

TEST_F(ResolverTest, TheProgramGetsNothingOfTheBridge) {
  const FileDescriptor open_at_exec(open("/dev/null", O_RDONLY));
  const auto handler = signal(SIGUSR2, SIG_IGN);
  const SignalsBlocked blocked;
  const auto output_of = [&](const std::string& command) {
    program("exec " + command + " > " + directory_ / "output");
    look_up("xyz");
    end_of_program();
    return testing::contents_of(directory_ / "output");
  };
  EXPECT_EQ(output_of("readlink /proc/self/fd/0 /proc/self/fd/2"), "/dev/null\n/dev/null\n");
  // The last one is the folder that is listed.
  EXPECT_EQ(output_of("ls /proc/self/fd"), "0\n1\n2\n3\n");
  EXPECT_EQ(output_of("grep -E 'Sig(Blk|Ign)' /proc/self/status"),
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  signal(SIGUSR2, handler);
}

TEST_F(ResolverTest, OfTheOutput64KiBAreRead) {
  // 21 bytes, of which a whole number does not fit.
  const std::string line = "192.0.2.1            ";
  const std::size_t lines = limits::kLookupBytesMax / (line.size() + 1);
  const std::string cut = "2001:db8::1";
  const std::size_t left = limits::kLookupBytesMax - lines * (line.size() + 1);
  ASSERT_GT(left, cut.size());
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += line + '\n';
  const std::string file = directory_.write("output", "");
  program("cat " + file);

  directory_.write("output", text + cut + std::string(left - cut.size() - 1, ' ') + "\n");
  EXPECT_THAT(look_up("xyz"), ElementsAre("192.0.2.1", cut));
  end_of_program();
  directory_.write("output", text + cut + std::string(left - cut.size(), ' ') + "\n");
  EXPECT_THAT(look_up("xyz"), ElementsAre("192.0.2.1"));
  end_of_program();
}

TEST_F(ResolverTest, AProgramThatTakesTooLongIsEnded) {
  EXPECT_EQ(options_.limit, Milliseconds(5'000));
  options_.limit = Milliseconds(50);
  program("exec sleep 1000");
  EXPECT_THAT(look_up("xyz"), ElementsAre("the name xyz was not found in 0.05s"));
  EXPECT_EQ(end_of_program(), "SIGALRM");
}

TEST_F(ResolverTest, DestroyingTheResolverEndsTheProgramSilently) {
  options_.limit = Milliseconds(50);
  program("exec sleep 1000");
  start("xyz");
  resolver_.reset();
  start("127.0.0.1");
  resolver_.reset();
  EXPECT_EQ(end_of_program(), "SIGALRM");
  testing::run_what_is_due(loop_);
  EXPECT_FALSE(found_);
}

TEST_F(ResolverTest, MayBeDestroyedWithinItsEvent) {
  program("echo 192.0.2.7");
  std::vector<std::string> told;
  for (const char* const name : {"127.0.0.1", "daemon"}) {
    resolver_ =
        std::make_unique<Resolver>(loop_, options_, name, [&](const Resolver::Found& found) {
          resolver_.reset();
          told.push_back(found.addresses.front().to_string());
        });
    EXPECT_TRUE(runs_until(loop_, [&] { return !resolver_; }));
  }
  EXPECT_THAT(told, ElementsAre("127.0.0.1", "192.0.2.7"));
  EXPECT_EQ(end_of_program(), "0");
}

}  // namespace
}  // namespace sitter
