#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/line.hpp"

namespace sitter {

namespace limits {

/// The lines whose echo is awaited at a time. A client that sends more before it hears anything
/// gets the echoes of the further ones.
inline constexpr std::size_t kEchoesMax = 1000;

}  // namespace limits

/// Whether a child sends back what it is sent, as `cat` does, or a terminal before the server. An
/// echo has the bytes of what was sent and comes in the same order, from the first line on: so a
/// child that begins with a line of its own has none.
class Echo {
 public:
  void on_sent(const Outgoing& line) {
    if (state_ != State::none && sent_.size() < limits::kEchoesMax) {
      sent_.push_back(std::hash<std::string>()(line.text()));
    }
  }
  /// Whether this line of the child is an echo. Each line that was sent has one.
  bool hears(std::string_view line) {
    if (sent_.empty()) return false;
    const auto end = state_ == State::known ? sent_.end() : std::next(sent_.begin());
    const auto found = std::find(sent_.begin(), end, std::hash<std::string_view>()(line));
    if (found == end) return false;
    sent_.erase(sent_.begin(), std::next(found));
    state_ = State::known;
    return true;
  }
  /// The child sends back what it is sent: another sign has shown it.
  void on_seen() { state_ = State::known; }
  /// The child has said something of its own.
  void on_own_word() {
    if (state_ == State::open) state_ = State::none;
    if (state_ == State::none) sent_ = {};
  }

 private:
  enum class State { open, known, none };

  State state_ = State::open;
  std::vector<std::size_t> sent_;
};

}  // namespace sitter
