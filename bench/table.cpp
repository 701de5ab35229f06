#include "table.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "program.hpp"

namespace sitter::bench {
namespace {

void row(std::string_view what, const std::vector<std::string>& cells, std::string_view compared,
         std::string_view goal) {
  fmt::print("| {:<34} |", what);
  for (const std::string& cell : cells) fmt::print(" {:>10} |", cell);
  fmt::print(" {:<33} | {:<28} |\n", compared, goal);
  std::fflush(stdout);
}

std::string compared(std::span<const std::vector<double>> figure, int digits,
                     Table::Compare compare) {
  if (compare == Table::Compare::nothing) return {};
  const bool is_ratio = compare == Table::Compare::ratio;
  const std::vector<double>& measured = figure[figure.size() - 1];
  const std::vector<double>& yardstick = figure[figure.size() - 2];
  std::vector<double> within;
  for (std::size_t round = 0; round < measured.size(); ++round) {
    within.push_back(is_ratio ? measured[round] / yardstick[round]
                              : measured[round] - yardstick[round]);
  }
  const auto print = [&](double value) {
    return is_ratio ? fmt::format("{:.2f}", value) : fmt::format("{:+.{}f}", value, digits);
  };
  return fmt::format("{}{} [{} {}]", is_ratio ? "x " : "", print(median(within)),
                     print(quantile(within, 0.25)), print(quantile(within, 0.75)));
}

}  // namespace

Table::Table(const std::vector<std::string>& setups, std::string_view yardstick) {
  row("", setups, fmt::format("against the {} [quartiles]", yardstick), "goal");
  row("---", std::vector<std::string>(setups.size(), "---:"), "---", "---");
}

void Table::add(std::string_view what, std::span<const std::vector<double>> figure, int digits,
                Compare compare, std::string_view goal) const {
  std::vector<std::string> cells;
  for (const std::vector<double>& values : figure) {
    cells.push_back(values.empty() ? "" : fmt::format("{:.{}f}", median(values), digits));
  }
  row(what, cells, compared(figure, digits, compare), goal);
}

}  // namespace sitter::bench
