#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/http_exchange.hpp"
#include "core/http/mcp_headers.hpp"
#include "core/http/url.hpp"

namespace sitter {

/// How the daemon is spoken to: where its requests go, the headers by which it knows the session
/// and its revision (MCP 2025-11-25, "Transports"), and the stream on which it speaks unasked:
///
///     unasked --ask_for_stream()--> asked --on_stream()--> opened --open()--> unasked
class DaemonSession {
 public:
  /// `headers` are sent with each request.
  DaemonSession(Url url, const std::vector<HttpHeader>& headers, const std::string& sitter_version);

  ExchangePtr new_exchange(HttpExchange::Kind kind) const;
  /// The exchange that takes this line to the daemon. `message` is what was read in it.
  ExchangePtr as_exchange(const Message& message, OwnedLine line) const;
  void write(order::HttpSend& order, const HttpExchange& exchange) const;
  /// Whether the response says that the session of its request cannot be used.
  SessionLoss loss_in(const HttpExchange& exchange) const;

  /// The daemon has opened a session; the id is empty if it keeps none.
  void open(std::string_view id) {
    id_ = id;
    stream_ = Stream::unasked;
    make_lines();
  }
  void set_version(std::string version) {
    version_ = std::move(version);
    make_lines();
  }
  /// Another child begins.
  void clear();
  bool has_id() const { return !id_.empty(); }
  /// Whether it was opened as a session of an earlier revision than 2026-07-28.
  bool is_open() const { return !lines_.empty(); }

  /// What listened when the last connection was opened.
  void set_listener(ListenerId listener) { listener_ = listener; }
  ListenerId listener() const { return listener_; }

  /// The daemon has answered, so it is not only something between that accepts connections.
  void on_heard() { is_heard_ = true; }
  bool is_heard() const { return is_heard_; }

  /// Returns whether the stream is to be opened, which is so once in a session.
  bool ask_for_stream() {
    if (version_.empty() || stream_ != Stream::unasked) return false;
    stream_ = Stream::asked;
    return true;
  }
  void on_stream() { stream_ = Stream::opened; }
  bool had_stream() const { return stream_ == Stream::opened; }

  const Url& url() const { return url_; }
  /// "http://127.0.0.1:3000/mcp answers 503 Service Unavailable"
  std::string words_for(int status) const {
    return fmt::format("{} answers {}", url_.shown(), status_line(status));
  }
  /// Where requests go from now on: the daemon has moved for good.
  void move_to(std::string target) { target_ = std::move(target); }
  /// Learns which parameters of the tools are repeated in headers.
  std::vector<InvalidTool> learn_tools(std::string_view result) {
    return tool_headers_.learn(result);
  }

 private:
  enum class Stream { unasked, asked, opened };

  void make_lines();

  const Url url_;
  std::string constant_headers_;  // lines that every request has
  std::string target_;
  std::string id_;
  std::string version_;
  std::string lines_;  // of the headers for both, made once
  Stream stream_ = Stream::unasked;
  ListenerId listener_ = kNoListener;
  bool is_heard_ = false;
  ToolHeaders tool_headers_;
};

}  // namespace sitter
