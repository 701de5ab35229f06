#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/child/handshake.hpp"
#include "support/client_script.hpp"

namespace sitter {

/// Feeds the handshake of child 2 with answers, and shows what was sent to the child.
class HandshakeTest : public ::testing::Test {
 protected:
  HandshakeTest() {
    session_.opening_params = R"json({"protocolVersion":"2025-11-25"})json";
    session_.negotiated_version = "2025-11-25";
    session_.initialized_line = initialized();
  }

  std::vector<std::string> sent() {
    std::vector<std::string> lines;
    while (const auto order = out_.poll()) {
      lines.push_back(std::get<order::SendToChild>(*order).line.text());
    }
    return lines;
  }
  bool answer(const std::string& text) {
    const OwnedLine line(text);
    return handshake_.on_answer(*reader_.read(line.line()), now_, out_);
  }
  /// Goes on to `opened`, by a replay with the id 1.
  void open(const std::string& capabilities) {
    Server server;
    server.capabilities = capabilities;
    handshake_.open_again(session_, out_);
    answer(result(1, server.opening()));
    sent();
    ASSERT_EQ(handshake_.state(), Handshake::State::opened);
  }

  /// Begins without an opening. The lists are asked for with the ids 1, 2 and 3.
  void list(bool before_requests) {
    meta_ = "{}";
    handshake_.leave_unopened();
    handshake_.list(before_requests, false, now_, out_);
    sent();
  }
  /// Answers the requests for the prompts and the resources.
  void answer_others_as_stateless() {
    EXPECT_TRUE(answer(result(2, R"json({"resultType":"complete","prompts":[]})json")));
    EXPECT_TRUE(answer(result(3, R"json({"resultType":"complete","resources":[]})json")));
  }
  /// Goes on to `doubted`, where `initialize` has the id 4.
  void doubt() {
    list(true);
    answer_others_as_stateless();
    answer(error(1, -32600, "not initialized"));
    sent();
    ASSERT_EQ(handshake_.state(), Handshake::State::doubted);
  }

  int id_ = 0;
  std::string meta_;
  Handshake handshake_{2, [this] { return std::to_string(++id_); }, [this] { return meta_; },
                       "9.9.9"};
  Session session_;
  Orders out_;
  MessageReader reader_;
  Now now_{Instant() + seconds(10), {}};
};

}  // namespace sitter
