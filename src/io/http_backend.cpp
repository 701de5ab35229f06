#include "io/http_backend.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "io/http/connector.hpp"
#include "io/http/listener.hpp"
#include "io/trace.hpp"

namespace sitter {

HttpBackend::HttpBackend(const Parts& parts, Options options)
    : Backend(parts),
      client_(
          parts.loop,
          {options.link.url,
           connector_to(parts.loop, options.link.url, options.cacert, options.environment)},
          {[this](HttpFact&& fact) { on_http(std::move(fact)); }, [this] { events_.on_end(); }}),
      link_(std::move(options.link)) {}

void HttpBackend::handle_timeout(Now now) {
  now_ = now;
  link_.handle_timeout(now);
  carry_out_all();
}

const Fact* HttpBackend::next_fact() {
  const Fact* const of_process = of_process_.poll();
  return of_process != nullptr ? of_process : link_.poll_fact();
}

bool HttpBackend::takes(const Order& order) {
  if (std::holds_alternative<order::SweepImage>(order)) {
    // The processes of a daemon that was not started here are not ours to end.
    events_.on_fact(fact::ImageSwept{});
    return true;
  }
  if (const auto* const look = std::get_if<order::InspectBinary>(&order)) return inspect(*look);
  return give(link_, order);
}

/// A daemon that was not started here has no file to look at.
bool HttpBackend::inspect(const order::InspectBinary& order) {
  if (children_.find(order.gen) != nullptr) return false;
  fact::BinaryInspected fact{order.look, {}};
  if (order.look.purpose == Look::Purpose::kill && listener_ != kNoListener) {
    fact.listening = pid_of(listener_);
  }
  events_.on_fact(fact);
  return true;
}

void HttpBackend::on_process(const Fact& fact) {
  if (!give(link_, fact)) Backend::on_process(fact);
}

void HttpBackend::on_http(HttpFact&& fact) {
  now_ = events_.on_begin();
  if (log_.is_trace()) log_.trace(to_text(fact, log_.secrets()));
  if (const auto* const connected = std::get_if<fact::HttpConnected>(&fact)) {
    listener_ = connected->listener;
  }
  link_.handle(std::move(fact), now_);
  carry_out_all();
}

void HttpBackend::carry_out_all() {
  while (const HttpOrder* const order = link_.poll_order()) {
    if (log_.is_trace()) log_.trace(to_text(*order, log_.secrets()));
    client_.carry_out(*order);
  }
  while (const order::Log* const line = link_.poll_log()) log_.write(line->level, line->text);
  while (const DaemonOrder* const polled = link_.poll_process_order()) {
    // A start brings a fact, and what it leads to is polled before the order is over.
    const DaemonOrder order = *polled;
    const auto* const take = std::get_if<order::TakeDaemon>(&order);
    const std::optional<Fact> fact =
        take != nullptr ? take_daemon(take->gen) : children_.carry_out(order, now_.wall);
    if (fact && !give(link_, *fact)) of_process_.push_back(*fact);
  }
}

Fact HttpBackend::take_daemon(Generation gen) {
  return children_.take_daemon(gen, [this](const std::vector<ProcessInfo>& members) {
    if (listener_ == kNoListener) return true;
    const auto pid = pid_of(listener_);
    return pid && std::any_of(members.begin(), members.end(),
                              [&](const ProcessInfo& member) { return member.pid == *pid; });
  });
}

}  // namespace sitter
