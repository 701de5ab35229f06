#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The numbers of tests/cost/numbers.txt.
namespace sitter::cost {

/// What keeps a figure from its number: a cost or a gain of more than a tenth. A gain is told too,
/// because a number that is too high lets the next cost pass. Differences below one half are none:
/// some page faults come only with every other call. Returns an empty text if there is nothing.
std::string defect_of(double figure, double number);

/// Comments, and lines that end in a number. What stands before the number names it.
class Numbers {
 public:
  explicit Numbers(std::string file);

  std::optional<double> of(std::string_view name) const;
  /// Changes the line with this name, or adds it, and writes the file.
  void set(std::string_view name, double number);

 private:
  const std::string file_;
  std::vector<std::string> lines_;
};

}  // namespace sitter::cost
