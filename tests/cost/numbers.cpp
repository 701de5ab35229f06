#include "cost/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace sitter::cost {
namespace {

std::optional<double> number_in(const std::string& line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  const char* const rest = line.c_str() + name.size();
  char* end = nullptr;
  const double number = std::strtod(rest, &end);
  if (*rest != ' ' || end == rest || *end != '\0') return std::nullopt;
  return number;
}

}  // namespace

std::string defect_of(double figure, double number) {
  const double difference = figure - number;
  if (std::abs(difference) <= std::max(number / 10, 0.5)) return {};
  const auto percent = number > 0 ? fmt::format(" ({:+.0f} %)", difference / number * 100) : "";
  return fmt::format("{} instead of {}{}: {}", figure, number, percent,
                     difference > 0 ? "find out what costs more" : "keep the gain");
}

Numbers::Numbers(std::string file) : file_(std::move(file)) {
  std::ifstream text(file_);
  for (std::string line; std::getline(text, line);) lines_.push_back(line);
}

std::optional<double> Numbers::of(std::string_view name) const {
  for (const std::string& line : lines_) {
    if (const auto number = number_in(line, name)) return number;
  }
  return std::nullopt;
}

void Numbers::set(std::string_view name, double number) {
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const std::string& one) {
    return number_in(one, name).has_value();
  });
  const std::string text = fmt::format("{} {}", name, number);
  if (line == lines_.end()) {
    lines_.push_back(text);
  } else {
    *line = text;
  }
  std::ofstream(file_) << fmt::format("{}\n", fmt::join(lines_, "\n"));
}

}  // namespace sitter::cost
