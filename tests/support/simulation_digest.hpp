#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "sitter/fact.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter::sim {

/// A hash over every fact that a bridge is told, the time of the fact, and every order of the
/// bridge. Two programs with the same digest for a seed have behaved alike, to the last character.
/// The hash is FNV-1a with 64 bits, which is the same on every system.
class Digest {
 public:
  void add(const Fact& fact, Now now);
  void add(const Order& order);
  void add(std::uint64_t number);
  void add(std::string_view text);

  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace sitter::sim
