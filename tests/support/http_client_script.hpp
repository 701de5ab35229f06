#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "io/http/connector.hpp"
#include "io/http/http_client.hpp"
#include "support/loop_steps.hpp"
#include "support/scripted_server.hpp"

namespace sitter {

constexpr ExchangeId id(unsigned number) { return ExchangeId{number}; }

inline std::string word(fact::HttpFailed::Kind kind) {
  switch (kind) {
    case fact::HttpFailed::Kind::not_connected:
      return "not_connected";
    case fact::HttpFailed::Kind::no_descriptor:
      return "no_descriptor";
    case fact::HttpFailed::Kind::other_listener:
      return "other_listener";
    case fact::HttpFailed::Kind::broken:
      break;
  }
  return "broken";
}

/// A client and a server. Facts become words: the id of the exchange, and what happened.
class HttpClientTest : public ::testing::Test {
 protected:
  void on(const fact::HttpConnected& fact) {
    listener_ = fact.listener;
    note(fact.exchange, "connected");
  }
  void on(const fact::HttpHead& fact) {
    headers_ = fact.headers;
    note(fact.exchange, std::to_string(fact.status));
  }
  /// Where a body is cut depends on the network, so its pieces become one word.
  void on(const fact::HttpBytes& fact) {
    const std::string start = number(fact.exchange) + " body ";
    if (told_.empty() || !told_.back().starts_with(start)) told_.push_back(start);
    told_.back().append(fact.bytes);
  }
  void on(const fact::HttpEnded& fact) { note(fact.exchange, "ended"); }
  void on(const fact::HttpFailed& fact) {
    note(fact.exchange, word(fact.kind) + ": " + fact.reason);
  }
  void on(const fact::HttpIdleClosed&) { told_.push_back("idle closed"); }
  void note(ExchangeId exchange, const std::string& what) {
    told_.push_back(number(exchange) + ' ' + what);
  }
  static std::string number(ExchangeId exchange) {
    return std::to_string(static_cast<std::uint64_t>(exchange));
  }

  static Url url(std::uint16_t port, std::string host = "127.0.0.1") {
    Url url;
    url.host = std::move(host);
    url.port = port;
    url.target = "/mcp";
    return url;
  }
  void connect_to(Url url) {
    HttpClient::Options options;
    options.url = std::move(url);
    options.connect = connector_to(loop_, options.url, "", [](const char*) { return nullptr; });
    options.now = [this] { return now_; };
    make_client(std::move(options));
  }
  void make_client(HttpClient::Options options) {
    client_ = std::make_unique<HttpClient>(
        loop_, std::move(options),
        HttpClient::Events{[this](const HttpFact& fact) {
                             EXPECT_FALSE(is_ordering_);
                             std::visit([this](const auto& one) { on(one); }, fact);
                             if (on_fact_) on_fact_();
                           },
                           [this] { ++told_count_; }});
  }
  void start_server() {
    server_ = std::make_unique<testing::ScriptedServer>(loop_);
    connect_to(url(server_->port()));
  }
  /// Answers each request with this text.
  void answer(const std::string& text) {
    server_->on_request = [text](testing::ScriptedServer::Peer& peer, const std::string&) {
      peer.send(text);
    };
  }

  void order(const HttpOrder& order) {
    is_ordering_ = true;
    client_->carry_out(order);
    is_ordering_ = false;
  }
  static order::HttpSend post(unsigned exchange, std::string body = "{}") {
    order::HttpSend send;
    send.exchange = id(exchange);
    send.target = "/mcp";
    send.body = std::move(body);
    return send;
  }
  void send(unsigned exchange) { order(post(exchange)); }
  void abort(unsigned exchange) { order(order::HttpAbort{id(exchange)}); }
  void connect(unsigned exchange) { order(order::HttpConnect{id(exchange)}); }

  /// What was told until this exchange was over.
  std::vector<std::string> until_over(unsigned exchange) {
    const std::string start = std::to_string(exchange) + ' ';
    EXPECT_TRUE(testing::runs_until(loop_, [&] {
      return !told_.empty() && told_.back().starts_with(start) &&
             (told_.back().ends_with(" ended") || told_.back().ends_with(" connected") ||
              told_.back().find(": ") != std::string::npos);
    }));
    return std::exchange(told_, {});
  }
  std::vector<std::string> due() {
    testing::run_what_is_due(loop_);
    return std::exchange(told_, {});
  }
  std::size_t connection_count() const { return server_->peers.size(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  EventLoop loop_;
  Instant now_{std::chrono::hours(1)};
  std::unique_ptr<testing::ScriptedServer> server_;
  std::vector<std::string> told_;
  std::vector<HttpHeader> headers_;
  ListenerId listener_ = kNoListener;
  std::function<void()> on_fact_;
  int told_count_ = 0;
  bool is_ordering_ = false;
  std::unique_ptr<HttpClient> client_;
};

}  // namespace sitter
