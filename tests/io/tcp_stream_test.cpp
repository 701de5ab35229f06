#include "io/http/tcp_stream.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/process/reaper.hpp"
#include "sitter/bytes.hpp"
#include "support/held_port.hpp"
#include "support/sockets.hpp"
#include "support/temporary_directory.hpp"
#include "tcp_stream_script.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HeldPort;
using ::testing::IsEmpty;
using testing::run_what_is_due;
using testing::runs_until;
using testing::ScriptedServer;
using testing::tcp_socket;

TEST_F(TcpStreamTest, BytesGoBothWays) {
  open_to_server();
  stream_->write("to the server");
  EXPECT_TRUE(runs_until(loop_, [&] { return peer().received() == "to the server"; }));
  peer().send("to the client");
  EXPECT_TRUE(runs_until(loop_, [&] { return got_ == "to the client"; }));
  peer().close();
  EXPECT_TRUE(closes());
  EXPECT_THAT(told_, ElementsAre("closed "));
}

TEST_F(TcpStreamTest, APortAtWhichNothingListensIsNamed) {
  const HeldPort port;
  open("127.0.0.1", port.number());
  EXPECT_TRUE(closes());
  EXPECT_THAT(told_,
              ElementsAre("closed nothing listens on 127.0.0.1:" + std::to_string(port.number())));
}

TEST_F(TcpStreamTest, AllAddressesThatRefuseAreNamed) {
  const HeldPort held;
  open("localhost", held.number());
  EXPECT_TRUE(closes());
  const std::string port = std::to_string(held.number());
  EXPECT_THAT(told_,
              ElementsAre("closed nothing listens on 127.0.0.1:" + port + " or [::1]:" + port));
}

TEST_F(TcpStreamTest, AnAddressThatCannotBeReachedIsNamedWithTheReason) {
  // TCP has no broadcasts, so the system refuses this at once.
  open("255.255.255.255", 80);
  EXPECT_TRUE(closes());
  EXPECT_THAT(told_, ElementsAre(HasSubstr("closed 255.255.255.255:80 can't be reached: ")));
}

TEST_F(TcpStreamTest, TheNextAddressIsTriedIfTheFirstRefuses) {
  const testing::TemporaryDirectory directory;
  server_ = std::make_unique<ScriptedServer>(loop_, "::1");
  TcpStream::Options options;
  options.names.hosts_file = directory.write("hosts", "127.0.0.1 daemon\n::1 daemon\n");
  open("daemon", server_->port(), options);
  EXPECT_TRUE(runs_until(loop_, [&] { return server_->peers.size() == 1; }));
  EXPECT_THAT(told_, ElementsAre("opened"));
}

TEST_F(TcpStreamTest, ANameThatIsNotKnownIsTheReason) {
  TcpStream::Options options;
  options.names.hosts_file = "/dev/null";
  options.names.command.front() = "/usr/bin/true";
  open("nowhere.invalid", 80, options);
  EXPECT_TRUE(closes());
  EXPECT_THAT(told_, ElementsAre("closed the name nowhere.invalid is not known"));
  EXPECT_TRUE(testing::eventually([] { return !reap().empty(); }));
}

/// A listening socket that answers no further connection, because its queue is full.
class TcpStreamLimitTest : public TcpStreamTest {
 protected:
  TcpStreamLimitTest() : full_(tcp_socket(AF_INET)) {
    const sockaddr_in address = testing::bind_to_loopback(full_);
    EXPECT_EQ(listen(full_.number(), 1), 0);
    port_ = ntohs(address.sin_port);
    // More than one connection fits into a queue of length 1.
    for (FileDescriptor& filler : fillers_) {
      filler = tcp_socket(AF_INET, O_NONBLOCK);
      testing::connects(filler, address);
    }
  }

  FileDescriptor full_;
  FileDescriptor fillers_[4];
  std::uint16_t port_ = 0;
};

TEST_F(TcpStreamLimitTest, AConnectionThatTakesTooLongFails) {
  TcpStream::Options options;
  EXPECT_EQ(options.connect_wait, Milliseconds(10'000));
  options.connect_wait = Milliseconds(20);
  open("127.0.0.1", port_, options);
  EXPECT_TRUE(closes());
  EXPECT_THAT(told_, ElementsAre("closed 127.0.0.1:" + std::to_string(port_) +
                                 " can't be reached: it did not answer in time"));
}

TEST_F(TcpStreamLimitTest, AnAddressThatDoesNotAnswerLeavesTimeForTheNext) {
  const testing::TemporaryDirectory directory;
  server_ = std::make_unique<ScriptedServer>(loop_, "::1", port_);
  TcpStream::Options options;
  options.connect_wait = Milliseconds(40);
  options.names.hosts_file = directory.write("hosts", "127.0.0.1 daemon\n::1 daemon\n");
  open("daemon", port_, options);
  EXPECT_TRUE(runs_until(loop_, [&] { return server_->peers.size() == 1; }));
  EXPECT_THAT(told_, ElementsAre("opened"));
}

TEST_F(TcpStreamLimitTest, AStreamThatIsGoneWhileItConnectsTellsNothing) {
  TcpStream::Options options;
  options.connect_wait = Milliseconds(1);
  open("127.0.0.1", port_, options);
  run_what_is_due(loop_);
  stream_.reset();
  told_.clear();
  run_what_is_due(loop_);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(TcpStreamTest, WhatTheOtherSideDoesNotTakeIsQueued) {
  open_to_server();
  peer().set_paused(true);
  std::string text;
  while (text.size() < 8 * limits::kMiB) text += std::to_string(text.size()) + ' ';
  stream_->write(text);
  const std::size_t queued = stream_->queued();
  EXPECT_GT(queued, 0U);
  EXPECT_LT(queued, text.size());
  stream_->write("!");
  EXPECT_EQ(stream_->queued(), queued + 1);
  run_what_is_due(loop_);
  EXPECT_GT(stream_->queued(), 0U);
  peer().set_paused(false);
  EXPECT_TRUE(runs_until(loop_, [&] { return peer().received().size() == text.size() + 1; }));
  EXPECT_TRUE(peer().received() == text + '!');
  EXPECT_EQ(stream_->queued(), 0U);
  stream_->write("?");
  EXPECT_TRUE(runs_until(loop_, [&] { return peer().received().ends_with("!?"); }));
}

TEST_F(TcpStreamTest, DuringAPauseNothingIsReadNotEvenTheEnd) {
  open_to_server();
  stream_->set_paused(true);
  peer().send("early");
  peer().close();
  run_what_is_due(loop_);
  EXPECT_EQ(got_, "");
  EXPECT_THAT(told_, IsEmpty());
  stream_->set_paused(false);
  EXPECT_TRUE(closes());
  EXPECT_EQ(got_, "early");
  EXPECT_THAT(told_, ElementsAre("closed "));
}

TEST_F(TcpStreamTest, APauseBeforeTheOpeningHolds) {
  server_ = std::make_unique<ScriptedServer>(loop_);
  server_->on_accepted = [](ScriptedServer::Peer& peer) { peer.send("early"); };
  open("127.0.0.1", server_->port());
  stream_->set_paused(true);
  run_what_is_due(loop_);
  EXPECT_THAT(told_, ElementsAre("opened"));
  EXPECT_EQ(got_, "");
  stream_->set_paused(false);
  EXPECT_TRUE(runs_until(loop_, [&] { return got_ == "early"; }));
}

TEST_F(TcpStreamTest, AStreamIsQuietUntilTheOtherSideSpeaksOrCloses) {
  open_to_server();
  EXPECT_TRUE(stream_->is_quiet());
  peer().send("x");
  testing::let_bytes_arrive();
  EXPECT_FALSE(stream_->is_quiet());
  EXPECT_TRUE(runs_until(loop_, [&] { return got_ == "x"; }));
  EXPECT_TRUE(stream_->is_quiet());
  peer().close();
  testing::let_bytes_arrive();
  EXPECT_FALSE(stream_->is_quiet());
}

TEST_F(TcpStreamTest, ABrokenConnectionSaysSo) {
  open_to_server();
  peer().reset();
  EXPECT_TRUE(closes());
  EXPECT_THAT(told_, ElementsAre("closed the connection to " + address() +
                                 " has broken: Connection reset by peer"));
}

TEST_F(TcpStreamTest, WhatCameBeforeAWriteFailedIsReadFirst) {
  open_to_server();
  peer().send("too large");
  peer().reset();
  // The first write is what shows that the connection has gone.
  stream_->write("more");
  stream_->write("and more");
  EXPECT_EQ(stream_->queued(), 0U);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_TRUE(closes());
  EXPECT_EQ(got_, "too large");
  EXPECT_THAT(told_,
              ElementsAre(HasSubstr("closed the connection to " + address() + " has broken: ")));
}

TEST_F(TcpStreamTest, AWriteThatFailsDuringAPauseIsToldAfterIt) {
  open_to_server();
  stream_->set_paused(true);
  peer().reset();
  stream_->write("more");
  run_what_is_due(loop_);
  EXPECT_THAT(told_, IsEmpty());
  stream_->set_paused(false);
  EXPECT_TRUE(closes());
  run_what_is_due(loop_);
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(TcpStreamTest, MayBeDestroyedWithinEachEvent) {
  on_event_ = [this] { stream_.reset(); };
  const HeldPort port;
  open("127.0.0.1", port.number());
  EXPECT_TRUE(runs_until(loop_, [&] { return !stream_; }));
  told_.clear();

  server_ = std::make_unique<ScriptedServer>(loop_);
  open("127.0.0.1", server_->port());
  EXPECT_TRUE(runs_until(loop_, [&] { return !stream_; }));
  EXPECT_TRUE(runs_until(loop_, [&] { return server_->peers.size() == 1 && !peer().is_open(); }));

  on_event_ = {};
  told_.clear();
  open_to_server();
  on_event_ = [this] { stream_.reset(); };
  peer().send("x");
  EXPECT_TRUE(runs_until(loop_, [&] { return !stream_; }));
  run_what_is_due(loop_);
  EXPECT_EQ(got_, "x");
}

TEST_F(TcpStreamTest, DescriptorsAreClosedAtAnExecAndWithTheStream) {
  const std::set<int> at_first = testing::descriptors_of(getpid());
  // The loop opens what it needs itself for the first stream.
  std::set<int> after_first;
  for (int i = 0; i < 2; ++i) {
    open_to_server();
    stream_->write(std::string(8 * limits::kMiB, 'x'));
    for (const int number : testing::descriptors_of(getpid())) {
      if (at_first.contains(number)) continue;
      EXPECT_EQ(fcntl(number, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC) << number;
    }
    stream_.reset();
    server_.reset();
    run_what_is_due(loop_);
    const std::set<int> after = testing::descriptors_of(getpid());
    if (i == 0) after_first = after;
    EXPECT_EQ(after, after_first);
  }
}

TEST_F(TcpStreamTest, EnablesTcpKeepAlive) {
  const std::set<int> before = testing::descriptors_of(getpid());
  open_to_server();
  std::vector<int> asks;
  for (const int number : testing::descriptors_of(getpid())) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (before.contains(number) ||
        getpeername(number, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
        ntohs(peer.sin_port) != server_->port()) {
      continue;
    }
    int asked = 0;
    size = sizeof asked;
    EXPECT_EQ(getsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &asked, &size), 0);
    asks.push_back(asked != 0 ? 1 : 0);
  }
  EXPECT_THAT(asks, ElementsAre(1));
}

}  // namespace
}  // namespace sitter
