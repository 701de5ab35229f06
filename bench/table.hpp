#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sitter::bench {

/// Calls `measure(setup)` for the setups in turn. Each round begins with another setup.
template <class Measure>
void in_turn(int round, std::size_t setups, Measure measure) {
  for (std::size_t i = 0; i < setups; ++i) measure((i + static_cast<std::size_t>(round)) % setups);
}

/// Prints the figures of several setups. The last setup is compared with the one before it, the
/// yardstick.
class Table {
 public:
  enum class Compare { ratio, difference, nothing };

  Table(const std::vector<std::string>& setups, std::string_view yardstick);

  /// Adds the medians over the rounds, and a comparison within each round. There is one value per
  /// round for each setup, or none for a setup that was not measured.
  void add(std::string_view what, std::span<const std::vector<double>> figure, int digits,
           Compare compare, std::string_view goal) const;
};

}  // namespace sitter::bench
