#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/http/http_exchange.hpp"

namespace sitter {

/// Lines that have not been sent to the daemon yet, in the order of the client.
class Outbox {
 public:
  void push_back(ExchangePtr exchange) {
    size_ += size_of(*exchange);
    exchanges_.push_back(std::move(exchange));
  }
  void push_front(ExchangePtr exchange) {
    size_ += size_of(*exchange);
    exchanges_.push_front(std::move(exchange));
  }
  /// The outbox must not be empty.
  HttpExchange& front() { return *exchanges_.front(); }
  ExchangePtr pop_front() {
    ExchangePtr first = std::move(exchanges_.front());
    exchanges_.pop_front();
    size_ -= size_of(*first);
    return first;
  }
  /// Removes the request with this raw id. Returns false if there is none.
  bool erase(std::string_view raw_id) {
    for (auto it = exchanges_.begin(); it != exchanges_.end(); ++it) {
      const HttpExchange& exchange = **it;
      if (exchange.kind != HttpExchange::Kind::request || !same_id(exchange.id, raw_id)) continue;
      size_ -= size_of(exchange);
      exchanges_.erase(it);
      return true;
    }
    return false;
  }
  std::deque<ExchangePtr> take_all() {
    size_ = 0;
    return std::exchange(exchanges_, {});
  }

  bool is_empty() const { return exchanges_.empty(); }
  /// In bytes of memory, so that many short lines count too.
  std::size_t size() const { return size_; }

 private:
  static std::size_t size_of(const HttpExchange& exchange) {
    return sizeof(HttpExchange) + exchange.line.size();
  }

  std::deque<ExchangePtr> exchanges_;
  std::size_t size_ = 0;
};

}  // namespace sitter
