#include "support/link_script.hpp"

#include <algorithm>
#include <cstring>

#include "support/link_orders.hpp"
#include "support/reading.hpp"
#include "support/sent_headers.hpp"

namespace sitter {
namespace {

using Kind = fact::HttpFailed::Kind;
using Verb = order::HttpSend::Method;

constexpr std::string_view kParam = "Mcp-Param-";

bool is_request(const nlohmann::json& message) {
  return message.contains("method") && message.contains("id");
}

}  // namespace

Bridge& LinkTest::bridge() {
  if (!bridge_) bridge_.emplace(config, now);
  return *bridge_;
}

HttpLink& LinkTest::link() {
  if (!link_) link_.emplace(options);
  return *link_;
}

void LinkTest::client(const std::string& line) {
  ledger_.on_line_of_client(line, takes_batches);
  const auto kept = padded(line);
  tell(fact::ClientLine{Line::padded({kept.get(), line.size()})});
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

void LinkTest::process_started(Generation gen) {
  processes_[gen];
  turn([&] { link().handle(fact::ChildStarted{gen, pid_of(gen)}, now); });
}

void LinkTest::process_start_fails(Generation gen, const std::string& reason) {
  turn([&] { link().handle(fact::ChildStartFailed{gen, reason, false, false, {}}, now); });
}

void LinkTest::process_says(Generation gen, const std::string& line) {
  tell(fact::ChildErrorLine{gen, line, 0});
}

void LinkTest::process_exits(Generation gen, int code, const std::string& signal) {
  processes_[gen].has_exited = true;
  turn([&] { link().handle(fact::ChildExited{gen, {code, signal}}, now); });
  tell(fact::ChildErrorEnded{gen});
}

void LinkTest::build_ends(int number, int code) {
  tell(fact::ChildExited{-number, {code, ""}});
  tell(fact::ChildOutputEnded{-number});
  tell(fact::ChildErrorEnded{-number});
}

void LinkTest::time_passes(Milliseconds duration) {
  const Instant until = now.steady + duration;
  for (int stops = 0; true; ++stops) {
    const auto next = next_timeout();
    if (!next || *next > until) break;
    ASSERT_LT(stops, 10000) << "a deadline comes again and again";
    turn_to(std::max(now.steady, *next));
    fire_deadlines();
  }
  turn_to(until);
  const std::size_t before = words_.size();
  fire_deadlines();
  EXPECT_EQ(words_.size(), before) << "something was done though nothing was due";
}

void LinkTest::next_deadline_comes() {
  const auto next = next_timeout();
  ASSERT_TRUE(next) << "there is no deadline";
  turn_to(std::max(now.steady, *next));
  fire_deadlines();
}

std::vector<std::string> LinkTest::client_got() {
  std::vector<std::string> lines;
  for (const std::string& word : done()) {
    if (word.starts_with("client ")) lines.push_back(word.substr(7));
  }
  return lines;
}

nlohmann::json LinkTest::answer() {
  const auto lines = client_got();
  if (lines.size() != 1) {
    ADD_FAILURE() << "not one line to the client: " << ::testing::PrintToString(lines);
    return nlohmann::json();
  }
  return nlohmann::json::parse(lines[0], nullptr, false);
}

std::string LinkTest::answer_text() {
  const auto line = answer();
  const auto at = nlohmann::json::json_pointer("/result/content/0/text");
  return line.contains(at) ? line[at].get<std::string>() : "no text in " + line.dump();
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

void LinkTest::opens_daemon() {
  while (opens_one()) continue;
}

/// Plays the daemon for one exchange. Returns false if there is none that it answers by itself.
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
    status(exchange, 400, error(id, -32022, "Unsupported protocol version"));
  } else if (method == "initialize") {
    Headers headers;
    if (daemon.has_sessions) {
      const std::string session = "s" + std::to_string(++sessions_);
      headers.push_back({"mcp-session-id", session});
    }
    answers(exchange, result(id, server.opening()), std::move(headers));
  } else if (method == "tools/list") {
    answers(exchange, result(id, server.page("tools", server.tools)));
  } else if (method == "prompts/list") {
    answers(exchange, result(id, server.page("prompts", server.prompts)));
  } else if (method == "resources/list") {
    answers(exchange, result(id, server.page("resources", server.resources)));
  } else {
    answers(exchange, result(id));
  }
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
  is_closing_ = true;
  client_closes_input();
  for (int i = 0; i < 1000 && !is_over_; ++i) {
    // A connection that is being opened never takes longer than its limit.
    refuse_connections();
    if (!is_over_ && next_timeout()) next_deadline_comes();
  }
  EXPECT_TRUE(is_over_) << "the bridge did not end";
  EXPECT_EQ(bridge().owed_count(), 0u);
  EXPECT_EQ(bridge().next_timeout(), std::nullopt);
  ledger_.expect_nothing_owed();
}

void LinkTest::tell(const Fact& fact) {
  turn([&] { feed(fact); });
}

void LinkTest::tell(const HttpFact& fact) {
  turn([&] {
    link().handle(HttpFact(fact), now);
    carry_out_link();
  });
}

template <class Facts>
void LinkTest::turn(Facts facts) {
  facts();
  feed_from_daemon();
}

void LinkTest::feed_from_daemon() {
  carry_out_link();
  while (true) {
    if (!of_process_.empty()) {
      const Fact fact = std::move(of_process_.front());
      of_process_.pop_front();
      feed(fact);
    } else if (const Fact* const fact = link().poll_fact()) {
      feed(*fact);
    } else {
      return;
    }
    carry_out_link();
  }
}

void LinkTest::decide(const Fact& fact) {
  if (const auto* const line = std::get_if<fact::ChildLine>(&fact)) {
    EXPECT_TRUE(is_reading_of(line->message, line->line.text())) << line->line.text();
  }
  bridge().handle(fact, now);
  carry_out_all();
}

void LinkTest::carry_out_all() {
  while (auto order = bridge().poll_order()) carry_out(*order);
}

void LinkTest::carry_out_link() {
  while (const auto order = link().poll_order()) write_down(*order);
  while (const auto line = link().poll_log()) {
    if (line->level != order::Log::Level::debug) logs_.push_back(line->text);
  }
  while (const auto order = link().poll_process_order()) {
    if (const auto* const start = std::get_if<order::StartChild>(&*order)) {
      add_word("start process " + std::to_string(start->gen));
      if (!plays.start) continue;
      processes_[start->gen];
      link().handle(fact::ChildStarted{start->gen, pid_of(start->gen)}, now);
      carry_out_link();
    } else if (const auto* const number = std::get_if<order::RenumberChild>(&*order)) {
      processes_[number->gen] = processes_[number->from];
      processes_.erase(number->from);
      add_word("renumber process " + std::to_string(number->from) + " to " +
               std::to_string(number->gen));
    } else if (const auto* const close = std::get_if<order::CloseChildInput>(&*order)) {
      add_word("close process " + std::to_string(close->gen));
    } else if (const auto* const signalled = std::get_if<order::SignalUnit>(&*order)) {
      play_signal(*signalled);
    } else if (const auto* const released = std::get_if<order::ReleaseChild>(&*order)) {
      add_word("release process " + std::to_string(released->gen));
      processes_.erase(released->gen);
    } else {
      ADD_FAILURE() << "no order about a process";
    }
  }
}

void LinkTest::play_signal(const order::SignalUnit& order) {
  using How = order::SignalUnit::How;
  const auto process = processes_.find(order.gen);
  const bool is_alive = process != processes_.end() && !process->second.has_exited;
  if (order.how != How::look) {
    add_word((order.how == How::terminate ? "terminate process " : "kill process ") +
             std::to_string(order.gen));
  }
  if (!plays.signal) return;
  fact::UnitSignalled fact{order.gen, {}};
  if (is_alive) fact.processes.push_back({pid_of(order.gen), true, "daemon", "", false});
  of_process_.push_back(std::move(fact));
  if (is_alive && is_closing_ && order.how == How::kill) {
    process->second.has_exited = true;
    link().handle(fact::ChildExited{order.gen, {137, "SIGKILL"}}, now);
    of_process_.push_back(fact::ChildErrorEnded{order.gen});
  }
}

void LinkTest::carry_out(const Order& order) {
  EXPECT_FALSE(is_over_) << "something was done after the end";
  if (pass_to_link(link(), order, now)) {
    carry_out_link();
    return;
  }
  if (const auto* const a = std::get_if<order::SendToClient>(&order)) {
    const std::string text = a->line.text();
    ledger_.on_line_to_client(text, false);
    add_word("client " + text);
  } else if (const auto* const b = std::get_if<order::StartBuild>(&order)) {
    add_word("start build " + std::to_string(-b->gen));
    feed(fact::ChildStarted{b->gen, 500});
  } else if (const auto* const c = std::get_if<order::SignalUnit>(&order)) {
    feed(fact::UnitSignalled{c->gen, {}});
  } else if (std::holds_alternative<order::SweepImage>(order)) {
    feed(fact::ImageSwept{});
  } else if (const auto* const d = std::get_if<order::InspectBinary>(&order)) {
    const bool is_ours = processes_.contains(d->gen);
    feed(fact::BinaryInspected{d->look, {}, {}, is_ours ? std::nullopt : daemon.pid});
  } else if (std::holds_alternative<order::CheckCommandFiles>(order)) {
    feed(fact::CommandFilesChecked{false});
  } else if (const auto* const e = std::get_if<order::LookAtSources>(&order)) {
    feed(fact::SourcesChecked{e->gen, "", {}});
  } else if (const auto* const f = std::get_if<order::Log>(&order)) {
    if (f->level != order::Log::Level::debug) logs_.push_back(f->text);
  } else if (const auto* const g = std::get_if<order::Exit>(&order)) {
    is_over_ = true;
    add_word("exit " + std::to_string(g->code));
  } else if (!std::holds_alternative<order::ReleaseChild>(order) &&
             !std::holds_alternative<order::SendToControl>(order)) {
    ADD_FAILURE() << "an order that is not for a daemon";
  }
}

void LinkTest::write_down(const HttpOrder& order) {
  if (const auto* const connect = std::get_if<order::HttpConnect>(&order)) {
    const auto exchange = static_cast<Exchange>(connect->exchange);
    expect_new(exchange);
    add_word("connect " + std::to_string(exchange));
    return;
  }
  if (const auto* const abort = std::get_if<order::HttpAbort>(&order)) {
    const auto exchange = static_cast<Exchange>(abort->exchange);
    expect_open(exchange);
    end_exchange(exchange);
    add_word("abort " + std::to_string(exchange));
    return;
  }
  const auto& send = std::get<order::HttpSend>(order);
  const auto exchange = static_cast<Exchange>(send.exchange);
  expect_new(exchange);
  expect_headers(send);
  sent_[exchange] = send;
  std::string word = send.method == Verb::get    ? "get "
                     : send.method == Verb::post ? "post "
                                                 : "delete ";
  word += std::to_string(exchange);
  if (const auto session = sent_value(send, "Mcp-Session-Id"); !session.empty()) {
    word += " [" + session + "]";
  }
  if (send.target != options.url.target) word += " to " + send.target;
  for (const HttpHeader& header : sent_headers(send)) {
    if (!header.name.starts_with(kParam)) continue;
    word += " " + header.name.substr(kParam.size()) + "=" + header.value;
  }
  if (const auto after = sent_value(send, "Last-Event-ID"); !after.empty()) {
    word += " after=" + after;
  }
  if (!send.body.empty()) word += " " + without_numbers(send.body);
  add_word(std::move(word));
}

void LinkTest::expect_new(Exchange exchange) {
  EXPECT_TRUE(known_.insert(exchange).second) << "an exchange comes again: " << exchange;
  open_.insert(exchange);
}

void LinkTest::expect_open(Exchange exchange) {
  EXPECT_TRUE(open_.contains(exchange)) << "an exchange that is over: " << exchange;
}

void LinkTest::end_exchange(Exchange exchange) { open_.erase(exchange); }

/// What holds for each order to send, whatever it sends.
void LinkTest::expect_headers(const order::HttpSend& order) {
  std::set<std::string> names;
  for (const HttpHeader& header : sent_headers(order)) {
    EXPECT_TRUE(names.insert(header.name).second) << "a header stands twice: " << header.name;
    EXPECT_EQ(header.value.find_first_of(std::string_view("\r\n\0", 3)), std::string::npos)
        << "a header breaks its line: " << header.name;
  }
  EXPECT_EQ(names.count("Origin"), 0u);
  if (order.method != Verb::post) {
    EXPECT_EQ(order.body, "");
    EXPECT_EQ(names.count("Content-Type"), 0u);
    return;
  }
  const auto message = expect_message(order.body);
  EXPECT_EQ(sent_value(order, "Content-Type"), "application/json");
  EXPECT_EQ(sent_value(order, "Accept"), "application/json, text/event-stream");
  const auto version =
      nlohmann::json::json_pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
  if (message.contains(version)) {
    EXPECT_EQ(sent_value(order, "MCP-Protocol-Version"), message[version]);
    EXPECT_EQ(sent_value(order, "Mcp-Method"), message["method"]);
  } else if (message.value("method", "") == "initialize") {
    EXPECT_EQ(names.count("Mcp-Session-Id"), 0u);
  } else {
    EXPECT_EQ(sent_value(order, "MCP-Protocol-Version"), server.protocol_version);
  }
}

std::optional<Instant> LinkTest::next_timeout() {
  auto next = bridge().next_timeout();
  if (!is_over_) earlier(next, link().next_timeout());
  return next;
}

void LinkTest::fire_deadlines() {
  turn([&] {
    if (!is_over_) link().handle_timeout(now);
    facts_.act([this] {
      bridge().handle_timeout(now);
      carry_out_all();
    });
  });
  const auto next = next_timeout();
  EXPECT_TRUE(!next || *next > now.steady) << "a deadline is still due when all have fired";
}

void LinkTest::turn_to(Instant instant) {
  now.wall += std::chrono::duration_cast<WallTime::duration>(instant - now.steady);
  now.steady = instant;
}

}  // namespace sitter
