#pragma once

#include <cstddef>
#include <deque>
#include <utility>

namespace sitter {

/// Values that somebody polls, in the order in which they came.
template <class Value>
class PolledQueue {
 public:
  template <class... Parts>
  Value& emplace_back(Parts&&... parts) {
    return queue_.emplace_back(std::forward<Parts>(parts)...);
  }
  void push_back(Value value) { queue_.push_back(std::move(value)); }

  /// The next value, or null. It is valid until the next call, whatever is added.
  Value* poll() {
    if (std::exchange(has_polled_, false)) queue_.pop_front();
    if (queue_.empty()) return nullptr;
    has_polled_ = true;
    return &queue_.front();
  }

  /// The values that were not polled, and the one that was polled last.
  std::size_t size() const { return queue_.size(); }

 private:
  std::deque<Value> queue_;
  /// The first value was polled.
  bool has_polled_ = false;
};

}  // namespace sitter
