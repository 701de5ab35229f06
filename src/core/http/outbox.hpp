#pragma once

#include <cstddef>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "core/http/http_exchange.hpp"
#include "core/http/link_output.hpp"

namespace sitter {

/// Lines that have not been sent to the daemon yet, in the order of the client. Urgent lines come
/// before the others, and do not wait until fewer requests are under way: a request that waits for
/// its turn may be what an answer belongs to.
class Outbox {
 public:
  void push_back(ExchangePtr exchange, bool is_urgent) {
    size_ += size_of(*exchange);
    (is_urgent ? urgent_ : others_).push_back(std::move(exchange));
  }
  /// What was sent goes again before all others: an answer is urgent, and a request is not.
  void push_front(ExchangePtr exchange) {
    size_ += size_of(*exchange);
    (is_request(*exchange) ? others_ : urgent_).push_front(std::move(exchange));
  }
  /// The next line, if it may be sent while so many requests are under way; null otherwise.
  ExchangePtr pop_front(std::size_t request_count) {
    std::deque<ExchangePtr>& lines = urgent_.empty() ? others_ : urgent_;
    const bool needs_room = begins_with_request() && !lines.front()->is_listen();
    if (lines.empty() || (needs_room && request_count >= limits::kHttpRequestsMax)) return nullptr;
    ExchangePtr first = std::move(lines.front());
    lines.pop_front();
    size_ -= size_of(*first);
    return first;
  }
  /// Removes the request with this raw id, if it is not urgent. Returns false if there is none.
  bool erase(const std::string& raw_id) {
    for (auto it = others_.begin(); it != others_.end(); ++it) {
      if (!is_request(**it) || !same_id((*it)->id, raw_id)) continue;
      size_ -= size_of(**it);
      others_.erase(it);
      return true;
    }
    return false;
  }
  /// Refuses the requests that are not urgent: the daemon is away. What was not sent had no effect.
  void refuse_requests(LinkOutput& output, const std::string& why,
                       std::optional<Milliseconds> again_after) {
    for (ExchangePtr& exchange : std::exchange(others_, {})) {
      size_ -= size_of(*exchange);
      if (is_request(*exchange)) {
        output.refuse(std::move(exchange->line), why, again_after);
      } else {
        push_back(std::move(exchange), false);
      }
    }
  }
  /// Refuses all requests. Notifications are dropped with their session.
  void refuse_all(LinkOutput& output, const std::string& why) {
    std::move(urgent_.rbegin(), urgent_.rend(), std::front_inserter(others_));
    refuse_requests(output, why, {});
    clear();
  }
  void clear() { *this = {}; }

  bool is_empty() const { return urgent_.empty() && others_.empty(); }
  bool begins_with_request() const {
    return urgent_.empty() && !others_.empty() && is_request(*others_.front());
  }
  /// In bytes of memory, so that many short lines count too.
  std::size_t size() const { return size_; }

 private:
  static bool is_request(const HttpExchange& exchange) {
    return exchange.kind == HttpExchange::Kind::request;
  }
  static std::size_t size_of(const HttpExchange& exchange) {
    return sizeof(HttpExchange) + exchange.line.size();
  }

  std::deque<ExchangePtr> urgent_;
  std::deque<ExchangePtr> others_;
  std::size_t size_ = 0;
};

}  // namespace sitter
