#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "support/played_orders.hpp"
#include "support/sent_headers.hpp"
#include "support/simulation_http_world.hpp"

/// The link between the shell and the network.
namespace sitter::sim {

namespace {

std::string number_of(ExchangeId id) { return std::to_string(static_cast<std::uint64_t>(id)); }

std::string words_of(const HttpOrder& order) {
  if (const auto* const connect = std::get_if<order::HttpConnect>(&order)) {
    return "connect " + number_of(connect->exchange);
  }
  if (const auto* const abort = std::get_if<order::HttpAbort>(&order)) {
    return "abort " + number_of(abort->exchange);
  }
  if (const auto* const pause = std::get_if<order::HttpPause>(&order)) {
    return "pause or go on with " + number_of(pause->exchange);
  }
  const auto& send = std::get<order::HttpSend>(order);
  using Verb = order::HttpSend::Method;
  std::string words = send.method == Verb::get    ? "get "
                      : send.method == Verb::post ? "post "
                                                  : "delete ";
  words += number_of(send.exchange) + ' ' + send.target;
  for (const char* const name : {"Mcp-Session-Id", "Last-Event-ID"}) {
    const std::string value = sent_value(send, name);
    if (!value.empty()) words += fmt::format(" [{}]", value);
  }
  return words + ' ' + send.body;
}

std::string words_of(const HttpFact& fact) {
  return std::visit(
      [](const auto& one) -> std::string {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, fact::HttpIdleClosed>) {
          return "an idle connection is closed";
        } else {
          const std::string number = number_of(one.exchange);
          if constexpr (std::is_same_v<One, fact::HttpConnected>) {
            return number + " is connected";
          } else if constexpr (std::is_same_v<One, fact::HttpHead>) {
            return fmt::format("{} is answered with {} {}", number, one.status,
                               header_value(one.headers, "mcp-session-id"));
          } else if constexpr (std::is_same_v<One, fact::HttpBytes>) {
            return number + ": " + std::string(one.bytes);
          } else if constexpr (std::is_same_v<One, fact::HttpEnded>) {
            return number + " ends";
          } else {
            return fmt::format("{} fails ({}): {}", number, static_cast<int>(one.kind), one.reason);
          }
        }
      },
      fact);
}

}  // namespace

std::optional<Instant> HttpWorld::timeout_of_played() const { return link_.next_timeout(); }

void HttpWorld::handle_timeout_of_played() { link_.handle_timeout(now_); }

bool HttpWorld::takes(const Order& order) {
  if (const auto* const start = std::get_if<order::StartChild>(&order)) {
    network_.on_child_ordered(start->gen);
  }
  if (const auto* const send = std::get_if<order::SendToChild>(&order)) {
    network_.on_given(send->line.text(), now_.steady);
  }
  return pass_to_played(link_, order, now_);
}

void HttpWorld::on_http(const HttpFact& fact) {
  if (tells()) tell("  http", words_of(fact));
  link_.handle(HttpFact(fact), now_);
  if (is_reading_) {
    carry_out_played();
  } else {
    feed_from_played();
  }
}

void HttpWorld::carry_out_played() {
  while (const auto order = link_.poll_order()) {
    check_steps();
    if (tells()) tell("  link", words_of(*order));
    std::visit([this](const auto& one) { network_.take(one, now_.steady); }, *order);
  }
  while (const auto line = link_.poll_log()) tell("  log", line->text);
  while (const auto order = link_.poll_process_order()) {
    check_steps();
    carry_out_for_process(*order);
  }
}

const Fact* HttpWorld::next_fact() {
  if (!of_process_.empty()) {
    told_ = std::move(of_process_.front());
    of_process_.pop_front();
    return &told_;
  }
  const Fact* const fact = link_.poll_fact();
  if (fact == nullptr) return nullptr;
  check_fact(*fact);
  if (const auto* const refused = std::get_if<fact::RequestRefused>(fact)) {
    network_.on_given_back(refused->line.text());
  } else if (std::holds_alternative<fact::ChildLost>(*fact) ||
             std::holds_alternative<fact::ChildExited>(*fact)) {
    network_.on_child_over();
  }
  return fact;
}

}  // namespace sitter::sim
