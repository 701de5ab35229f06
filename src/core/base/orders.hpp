#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sitter/order.hpp"

namespace sitter {

/// The orders that follow from one fact, first in, first out. The queue keeps its memory, because
/// every line needs it again.
class Orders {
 public:
  void push(Order order) { queue_.push_back(std::move(order)); }

  void log(order::Log::Level level, std::string text) { push(order::Log{level, std::move(text)}); }

  std::optional<Order> pop() {
    if (next_ == queue_.size()) {
      queue_.clear();
      next_ = 0;
      return std::nullopt;
    }
    return std::move(queue_[next_++]);
  }

 private:
  std::vector<Order> queue_;
  std::size_t next_ = 0;
};

}  // namespace sitter
