#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "core/base/polled_queue.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// The orders that follow from one fact, first in, first out.
class Orders {
 public:
  void push(Order order) { queue_.push_back(std::move(order)); }
  // Nearly all orders are of these kinds. They are made where they stay.
  void push(order::SendToClient order) { queue_.emplace_back(std::move(order)); }
  void push(order::SendToChild order) { queue_.emplace_back(std::move(order)); }

  void log(order::Log::Level level, std::string text) { push(order::Log{level, std::move(text)}); }

  /// The next order, or null. It is valid until the next call, whatever is pushed.
  Order* poll() { return queue_.poll(); }
  std::size_t size() const { return queue_.size(); }

 private:
  PolledQueue<Order> queue_;
};

}  // namespace sitter
