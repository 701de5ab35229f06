#include "support/link_script.hpp"

namespace sitter {
namespace {

using Kind = fact::HttpFailed::Kind;
using Verb = order::HttpSend::Method;

bool is_request(const nlohmann::json& message) {
  return message.contains("method") && message.contains("id");
}

}  // namespace

HttpLink& LinkTest::link() {
  if (!link_) {
    options.wait_for_server = config.wait_for_server;
    link_.emplace(options);
  }
  return *link_;
}

void LinkTest::connected(Exchange exchange) {
  expect_open(exchange);
  end_exchange(exchange);
  tell(fact::HttpConnected{ExchangeId{exchange}, daemon.listener});
}

void LinkTest::not_connected(Exchange exchange, const std::string& reason) {
  expect_open(exchange);
  end_exchange(exchange);
  tell(fact::HttpFailed{ExchangeId{exchange}, Kind::not_connected, reason});
}

void LinkTest::no_descriptor(Exchange exchange) {
  expect_open(exchange);
  end_exchange(exchange);
  tell(fact::HttpFailed{ExchangeId{exchange}, Kind::no_descriptor,
                        "mcp-sitter may open no more files"});
}

void LinkTest::other_listener(Exchange exchange) {
  expect_open(exchange);
  EXPECT_NE(order_of(exchange).listener, kNoListener) << "any listener was allowed";
  end_exchange(exchange);
  tell(fact::HttpFailed{ExchangeId{exchange}, Kind::other_listener,
                        "another process listens on 127.0.0.1:3000 by now"});
}

void LinkTest::breaks(Exchange exchange, const std::string& reason) {
  expect_open(exchange);
  end_exchange(exchange);
  tell(fact::HttpFailed{ExchangeId{exchange}, Kind::broken, reason});
}

void LinkTest::head(Exchange exchange, int code, Headers headers) {
  expect_open(exchange);
  tell(fact::HttpHead{ExchangeId{exchange}, code, std::move(headers)});
}

/// The bytes are gone after this, so the address sanitizer finds a view that lives longer.
void LinkTest::bytes(Exchange exchange, const std::string& bytes) {
  expect_open(exchange);
  const std::vector<char> kept(bytes.begin(), bytes.end());
  tell(fact::HttpBytes{ExchangeId{exchange}, {kept.data(), kept.size()}});
}

void LinkTest::ends(Exchange exchange) {
  expect_open(exchange);
  end_exchange(exchange);
  tell(fact::HttpEnded{ExchangeId{exchange}});
}

void LinkTest::status(Exchange exchange, int code, const std::string& body, Headers headers) {
  head(exchange, code, std::move(headers));
  if (!body.empty()) bytes(exchange, body);
  ends(exchange);
}

void LinkTest::answers(Exchange exchange, const std::string& message, Headers headers) {
  headers.push_back({"content-type", "application/json"});
  status(exchange, 200, with_numbers(message), std::move(headers));
}

void LinkTest::streams(Exchange exchange, Headers headers) {
  headers.push_back({"content-type", "text/event-stream"});
  streaming_.insert(exchange);
  head(exchange, 200, std::move(headers));
}

void LinkTest::event(Exchange exchange, const std::string& message, const std::string& event_id) {
  const std::string id = event_id.empty() ? "" : "id: " + event_id + "\n";
  bytes(exchange, id + "data: " + with_numbers(message) + "\n\n");
}

void LinkTest::idle_connection_closes() { tell(HttpFact(fact::HttpIdleClosed{})); }

void LinkTest::process_start_fails(Generation gen, const std::string& reason) {
  turn([&] { link().handle(fact::ChildStartFailed{gen, reason, false, false, {}}, now); });
}

void LinkTest::process_says(Generation gen, const std::string& line) {
  tell(fact::ChildErrorLine{gen, line, 0});
}

void LinkTest::process_exits(Generation gen, const ExitStatus& status) {
  processes_[gen].has_exited = true;
  turn([&] { link().handle(fact::ChildExited{gen, status}, now); });
  tell(fact::ChildErrorEnded{gen});
}

void LinkTest::build_ends(int number, int code) {
  tell(fact::ChildExited{-number, {code, ""}});
  tell(fact::ChildOutputEnded{-number});
  tell(fact::ChildErrorEnded{-number});
}

std::string LinkTest::error_text(int code) {
  const auto line = answer();
  const auto at = nlohmann::json::json_pointer("/error/message");
  if (!line.contains(at) || line["error"]["code"] != code) {
    return "no error with this code: " + line.dump();
  }
  return line[at];
}

nlohmann::json LinkTest::status_tool() {
  done();
  client(call("\"status\"", "sitter_status"));
  return nlohmann::json::parse(answer_text(), nullptr, false);
}

std::optional<LinkTest::Exchange> LinkTest::exchange_of(const Id& id) const {
  for (const Exchange exchange : open_) {
    const auto sent = sent_.find(exchange);
    if (sent == sent_.end()) continue;
    const auto message = parsed(sent->second.body);
    if (is_request(message) && message["id"].dump() == id.raw) return exchange;
  }
  return std::nullopt;
}

void LinkTest::client_opens() {
  client(initialize(0));
  connected(1);
  answers(2, result(0, server.opening()), {{"mcp-session-id", "s1"}});
  client(initialized());
}

void LinkTest::opens_daemon() {
  while (opens_one()) continue;
}

bool LinkTest::opens_one() {
  for (const Exchange exchange : open_) {
    if (streaming_.contains(exchange)) continue;
    const auto sent = sent_.find(exchange);
    if (sent == sent_.end()) {
      connected(exchange);
      return true;
    }
    const auto message = parsed(sent->second.body);
    const bool is_of_client = is_request(message) && message["method"] != "initialize" &&
                              !is_internal(message["id"].dump());
    if (is_of_client) continue;
    answer_as_daemon(exchange);
    return true;
  }
  return false;
}

void LinkTest::answer_as_daemon(Exchange exchange) {
  const order::HttpSend& sent = order_of(exchange);
  if (sent.method == Verb::get) {
    if (daemon.has_stream) {
      streams(exchange);
    } else {
      status(exchange, 405);
    }
    return;
  }
  const auto message = parsed(sent.body);
  if (sent.method == Verb::del || !is_request(message)) {
    takes(exchange);
    return;
  }
  const std::string id = message["id"].dump();
  const std::string method = message["method"];
  if (method == "initialize" && server.is_stateless) {
    status(exchange, 400, server.answer(id, method));
    return;
  }
  Headers headers;
  if (method == "initialize" && daemon.has_sessions) {
    headers.push_back({"mcp-session-id", "s" + std::to_string(++sessions_)});
  }
  answers(exchange, server.answer(id, method), std::move(headers));
}

void LinkTest::open_session(const std::string& version) {
  client(initialize(0, version));
  opens_daemon();
  client(initialized());
  opens_daemon();
  done();
}

void LinkTest::open_listed_session() {
  open_session();
  client(request(900, "tools/list"));
  answers(*exchange_of(900), result(900, server.page("tools", server.tools)));
  done();
}

void LinkTest::serve_stateless() {
  server.is_stateless = true;
  client(enveloped_call(900, "echo"));
  opens_daemon();
  answers(*exchange_of(900), result(900, R"json({"resultType":"complete","content":[]})json"));
  opens_daemon();
  done();
}

void LinkTest::daemon_dies() {
  while (!open_.empty()) {
    const Exchange exchange = *open_.begin();
    if (sent_.contains(exchange)) {
      breaks(exchange);
    } else {
      not_connected(exchange);
    }
  }
}

bool LinkTest::refuse_connections() {
  bool has_refused = false;
  for (const Exchange exchange : std::set(open_)) {
    if (!open_.contains(exchange) || sent_.contains(exchange)) continue;
    not_connected(exchange);
    has_refused = true;
  }
  return has_refused;
}

void LinkTest::stays_down(Milliseconds duration) {
  const Instant until = now.steady + duration;
  for (int stops = 0; true; ++stops) {
    ASSERT_LT(stops, 10000) << "the daemon is tried without end";
    if (refuse_connections()) continue;
    const auto next = next_timeout();
    if (!next || *next > until) break;
    next_deadline_comes();
  }
  turn_to(until);
}

void LinkTest::TearDown() {
  if (HasFatalFailure()) return;
  plays = {};
  begin_end();
  for (int i = 0; i < 1000 && !is_over(); ++i) {
    // A connection that is being opened never takes longer than its limit.
    refuse_connections();
    if (!is_over() && next_timeout()) next_deadline_comes();
  }
  expect_end();
}

}  // namespace sitter
