#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace sitter::bench {
namespace {

void print_row(std::string_view what, const std::vector<std::string>& cells,
               std::string_view compared, std::string_view goal) {
  fmt::print("| {:<34} |", what);
  for (const std::string& cell : cells) fmt::print(" {:>11} |", cell);
  fmt::print(" {:<60} | {:<31} |\n", compared, goal);
  std::fflush(stdout);
}

}  // namespace

Run::Run(const Case& measured, const Options& options)
    : case_(measured), options_(options), server_(measured.server()) {
  std::vector<std::string> names;
  for (const Middle& middle : case_.middles) names.push_back(middle.name);
  fmt::print("\n");
  print_row(case_.name, names, "compared within a round [quartiles]", "goal");
  print_row("---", std::vector<std::string>(ways(), "---:"), "---", "---");
}

std::unique_ptr<Caller> Run::open(std::size_t way) const {
  if (middle(way).caller) return middle(way).caller(server_);
  return std::make_unique<Program>(command(way));
}

void Run::check(std::size_t bytes, std::size_t calls) const {
  if (bytes != calls * server_.answer_bytes) die("an answer has the wrong size");
}

void Run::add(std::string_view what, const Figure& figure, int digits) {
  std::vector<std::string> cells;
  std::string comparisons;
  for (std::size_t way = 0; way < ways(); ++way) {
    const bool is_empty = figure[way].empty();
    cells.push_back(is_empty ? "" : fmt::format("{:.{}f}", median(figure[way]), digits));
    if (is_empty || way + 1 == ways()) continue;
    // There is no ratio to nothing.
    if (case_.compare == Compare::ratio && median(figure[way]) == 0) continue;
    if (!comparisons.empty()) comparisons += ", ";
    comparisons += compared(figure, way, digits);
  }
  print_row(what, cells, comparisons, rows_ < case_.goals.size() ? case_.goals[rows_] : "");
  ++rows_;
}

std::string Run::compared(const Figure& figure, std::size_t with, int digits) const {
  const bool is_ratio = case_.compare == Compare::ratio;
  std::vector<double> within;
  for (std::size_t round = 0; round < figure[with].size(); ++round) {
    const double measured = figure.back()[round];
    const double yardstick = figure[with][round];
    within.push_back(is_ratio ? measured / yardstick : measured - yardstick);
  }
  const auto print = [&](double value) {
    return is_ratio ? fmt::format("{:.2f}", value) : fmt::format("{:+.{}f}", value, digits);
  };
  return fmt::format("{}{} [{} {}] {}", is_ratio ? "x " : "", print(median(within)),
                     print(quantile(within, 0.25)), print(quantile(within, 0.75)),
                     middle(with).name);
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

}  // namespace sitter::bench
