#include "support/link_script.hpp"
#include "support/played_orders.hpp"
#include "support/reading.hpp"
#include "support/sent_headers.hpp"

/// Stands for the shell below the link in its stories: carries out orders, and writes down what
/// they are.
namespace sitter {
namespace {

using Verb = order::HttpSend::Method;

constexpr std::string_view kParam = "Mcp-Param-";

}  // namespace

void LinkTest::tell(const Fact& fact) {
  turn([&] { feed(fact); });
}

void LinkTest::tell(const HttpFact& fact) {
  turn([&] {
    link().handle(HttpFact(fact), now);
    carry_out_link();
  });
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
  while (const auto line = link().poll_log()) log(*line);
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
    } else if (const auto* const take = std::get_if<order::TakeDaemon>(&*order)) {
      take_daemon(take->gen);
    } else {
      ADD_FAILURE() << "no order about a process";
    }
  }
}

void LinkTest::take_daemon(Generation gen) {
  if (!daemon.is_of_earlier_session) {
    link().handle(fact::ChildStartFailed{gen, "it is not ours"}, now);
  } else {
    add_word("take process " + std::to_string(gen));
    processes_[gen];
    link().handle(fact::ChildStarted{gen, pid_of(gen)}, now);
  }
  carry_out_link();
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
  if (is_alive && is_closing() && order.how == How::kill) {
    process->second.has_exited = true;
    link().handle(fact::ChildExited{order.gen, {137, "SIGKILL"}}, now);
    of_process_.push_back(fact::ChildErrorEnded{order.gen});
  }
}

void LinkTest::carry_out(const Order& order) {
  if (write_down_own(order)) return;
  if (pass_to_played(link(), order, now)) {
    carry_out_link();
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
  } else if (const auto* const f = std::get_if<order::LookAtProcess>(&order)) {
    feed(fact::ProcessSeen{f->gen, ""});
  } else if (!std::holds_alternative<order::ReadStack>(order) &&
             !std::holds_alternative<order::ReleaseChild>(order) &&
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
  if (const auto* const pause = std::get_if<order::HttpPause>(&order)) {
    expect_open(static_cast<Exchange>(pause->exchange));
    add_word(fmt::format("{} {}", pause->is_paused ? "pause" : "go on with",
                         static_cast<Exchange>(pause->exchange)));
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
    EXPECT_EQ(sent_value(order, "MCP-Protocol-Version"), message[version].get<std::string>());
    EXPECT_EQ(sent_value(order, "Mcp-Method"), message["method"].get<std::string>());
  } else if (message.value("method", "") == "initialize") {
    EXPECT_EQ(names.count("Mcp-Session-Id"), 0u);
  } else {
    EXPECT_EQ(sent_value(order, "MCP-Protocol-Version"), server.protocol_version);
  }
}

std::optional<Instant> LinkTest::next_timeout() {
  auto next = bridge().next_timeout();
  if (!is_over()) earlier(next, link().next_timeout());
  return next;
}

void LinkTest::handle_timeout() {
  turn([&] {
    if (!is_over()) link().handle_timeout(now);
    facts_.act([this] {
      bridge().handle_timeout(now);
      carry_out_all();
    });
  });
  expect_nothing_due();
}

}  // namespace sitter
