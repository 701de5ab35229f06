#include "io/daemon.hpp"

#include <utility>
#include <variant>

#include "io/http/connector.hpp"
#include "io/http/listener.hpp"
#include "io/trace.hpp"

namespace sitter {

Daemon::Daemon(EventLoop& loop, Options options, Log& log, Children& children,
               HttpClient::Events events)
    : log_(log),
      children_(children),
      client_(loop,
              {options.link.url,
               connector_to(loop, options.link.url, options.cacert, options.environment)},
              std::move(events)),
      link_(std::move(options.link)) {}

void Daemon::handle_timeout(Now now) {
  now_ = now;
  link_.handle_timeout(now);
  carry_out_all();
}

const Fact* Daemon::next_fact() {
  const Fact* const of_process = of_process_.poll();
  return of_process != nullptr ? of_process : link_.poll_fact();
}

std::optional<std::int64_t> Daemon::listening_pid() const {
  return listener_ == kNoListener ? std::nullopt : pid_of(listener_);
}

void Daemon::note(const HttpFact& fact) {
  if (log_.is_trace()) log_.trace(to_text(fact));
  if (const auto* const connected = std::get_if<fact::HttpConnected>(&fact)) {
    listener_ = connected->listener;
  }
}

void Daemon::carry_out_all() {
  while (const HttpOrder* const order = link_.poll_order()) {
    if (log_.is_trace()) log_.trace(to_text(*order));
    client_.carry_out(*order);
  }
  while (const order::Log* const line = link_.poll_log()) log_.write(line->level, line->text);
  while (const Order* const polled = link_.poll_process_order()) {
    // A start brings a fact, and what it leads to is polled before the order is over.
    const Order order = *polled;
    std::visit([this](const auto& one) { carry_out_for_process(one); }, order);
  }
}

void Daemon::carry_out_for_process(const order::StartChild& order) {
  const Fact fact = children_.start(order.gen, now_.wall);
  if (const auto* const started = std::get_if<fact::ChildStarted>(&fact)) {
    handle(*started, now_);
  } else {
    handle(std::get<fact::ChildStartFailed>(fact), now_);
  }
}

void Daemon::carry_out_for_process(const order::RenumberChild& order) {
  children_.renumber(order, now_.wall);
}

void Daemon::carry_out_for_process(const order::CloseChildInput& order) {
  if (auto* const process = children_.find(order.gen)) process->input().close();
}

void Daemon::carry_out_for_process(const order::SignalUnit& order) {
  if (const auto fact = children_.signal(order)) of_process_.emplace_back(*fact);
}

void Daemon::carry_out_for_process(const order::ReleaseChild& order) {
  children_.release(order.gen);
}

}  // namespace sitter
