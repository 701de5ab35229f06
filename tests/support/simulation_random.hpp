#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace sitter::sim {

/// Random numbers from a seed, the same on every system. The distributions of the standard library
/// differ between systems.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    // SplitMix64.
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// 0 to count - 1.
  int below(int count) { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }
  /// `first` to `last`, both included.
  int between(int first, int last) { return first + below(last - first + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <class List>
  const auto& pick(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

  /// Removes a random element from the list and returns it.
  template <class List>
  auto take(List& list) {
    const auto at = list.begin() + below(static_cast<int>(list.size()));
    auto taken = std::move(*at);
    list.erase(at);
    return taken;
  }

  /// A random index. Its probability is proportional to its weight. At least one weight must not be
  /// zero.
  int weighted(std::initializer_list<int> weights) {
    int sum = 0;
    for (const int weight : weights) sum += weight;
    int left = below(sum);
    int index = 0;
    for (const int weight : weights) {
      if (left < weight) return index;
      left -= weight;
      ++index;
    }
    return index;
  }

 private:
  std::uint64_t state_;
};

}  // namespace sitter::sim
