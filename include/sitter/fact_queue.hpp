#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "sitter/fact.hpp"

namespace sitter {

/// Gives facts to the bridge one after the other. Facts that come while the orders of another fact
/// are carried out wait for their turn. What a view in such a fact refers to must stay until then.
class FactQueue {
 public:
  /// `decide` gives a fact to the bridge and carries out all its orders.
  explicit FactQueue(std::function<void(const Fact&)> decide) : decide_(std::move(decide)) {}

  void feed(const Fact& fact) {
    if (is_deciding_) {
      later_.push_back(fact);
    } else {
      act([&] { decide_(fact); });
    }
  }

  /// Does something else that lets the bridge decide, and then feeds the facts that came of it.
  template <class Act>
  void act(Act act) {
    is_deciding_ = true;
    act();
    while (!later_.empty()) {
      const Fact next = std::move(later_.front());
      later_.pop_front();
      decide_(next);
    }
    is_deciding_ = false;
  }

 private:
  std::function<void(const Fact&)> decide_;
  bool is_deciding_ = false;
  std::deque<Fact> later_;
};

}  // namespace sitter
