#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/http/tcp_stream.hpp"
#include "support/loop_steps.hpp"
#include "support/scripted_server.hpp"

namespace sitter {

/// A stream to a server. Events become words; the bytes are collected.
class TcpStreamTest : public ::testing::Test {
 protected:
  void open(const std::string& host, std::uint16_t port, TcpStream::Options options = {}) {
    stream_ = std::make_unique<TcpStream>(loop_, std::move(options), host, port,
                                          ByteStream::Events{[this] {
                                                               told_.emplace_back("opened");
                                                               if (on_event_) on_event_();
                                                             },
                                                             [this](std::string_view bytes) {
                                                               got_ += bytes;
                                                               if (on_event_) on_event_();
                                                             },
                                                             [this](const std::string& reason) {
                                                               told_.push_back("closed " + reason);
                                                               if (on_event_) on_event_();
                                                             }});
    EXPECT_THAT(told_, ::testing::IsEmpty());
  }
  /// A stream that is open, and its other end.
  void open_to_server() {
    server_ = std::make_unique<testing::ScriptedServer>(loop_);
    open("127.0.0.1", server_->port());
    ASSERT_TRUE(
        testing::runs_until(loop_, [&] { return server_->peers.size() == 1 && !told_.empty(); }));
    ASSERT_THAT(told_, ::testing::ElementsAre("opened"));
    told_.clear();
  }
  testing::ScriptedServer::Peer& peer() { return *server_->peers.front(); }
  bool closes() {
    return testing::runs_until(
        loop_, [&] { return !told_.empty() && told_.back().starts_with("closed"); });
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  EventLoop loop_;
  std::unique_ptr<testing::ScriptedServer> server_;
  std::vector<std::string> told_;
  std::string got_;
  std::function<void()> on_event_;
  std::unique_ptr<TcpStream> stream_;
};

}  // namespace sitter
