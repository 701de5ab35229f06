#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sitter/core/action.hpp"

namespace sitter {

/// The orders of one input, first in, first out. Keeps its memory, since there is one for every
/// line.
class Actions {
 public:
  void push(Action action) { queue_.push_back(std::move(action)); }

  void log(action::Log::Level level, std::string text) {
    push(action::Log{level, std::move(text)});
  }

  std::optional<Action> pop() {
    if (next_ == queue_.size()) {
      queue_.clear();
      next_ = 0;
      return std::nullopt;
    }
    return std::move(queue_[next_++]);
  }

 private:
  std::vector<Action> queue_;
  std::size_t next_ = 0;
};

}  // namespace sitter
