#include "io/http/http_child.hpp"

#include <utility>
#include <variant>

#include "io/http/listener.hpp"

namespace sitter {

HttpChild::HttpChild(EventLoop& loop, Options options, Log& log, Events events)
    : log_(log),
      on_order_(std::move(events.on_order)),
      client_(loop,
              {options.link.url,
               connector_to(loop, options.link.url, options.cacert, options.environment)},
              std::move(events.on_fact)),
      link_(std::move(options.link)) {}

std::optional<std::int64_t> HttpChild::listening_pid() const {
  return listener_ == kNoListener ? std::nullopt : pid_of(listener_);
}

void HttpChild::note(const HttpFact& fact) {
  if (const auto* const connected = std::get_if<fact::HttpConnected>(&fact)) {
    listener_ = connected->listener;
  }
}

void HttpChild::handle_timeout(Now now) {
  link_.handle_timeout(now);
  carry_out_all();
}

void HttpChild::carry_out_all() {
  while (const auto order = link_.poll_order()) {
    if (on_order_) on_order_(*order);
    client_.carry_out(*order);
  }
  while (const auto line = link_.poll_log()) log_.write(line->level, line->text);
}

}  // namespace sitter
