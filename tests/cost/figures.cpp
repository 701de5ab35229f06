#include "cost/figures.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/program.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::cost {
namespace {

using bench::Program;
using bench::Words;

/// The program and its server, behind a tool that counts.
Words command(const Situation& situation, Words tool) {
  for (const std::string& word :
       {std::string(SITTER_PROGRAM), std::string("--"), std::string(SITTER_FAKE_MCP),
        std::string("--fast"), std::string("--result-bytes"),
        std::to_string(situation.result_bytes)}) {
    tool.push_back(word);
  }
  return tool;
}

void make_calls(Program& program, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) program.call(bench::call_line(bench::kFirstId + i), 1);
}

double page_faults_after(Program& program, std::size_t calls) {
  make_calls(program, calls);
  return bench::page_faults_of(program.pid());
}

/// The sum of the counts that callgrind has written since the last one was read.
double next_counts(const std::string& file, std::size_t& last) {
  constexpr std::string_view kTotal = "totals: ";
  double sum = 0;
  while (true) {
    std::ifstream counts(file + "." + std::to_string(last + 1));
    if (!counts) return sum;
    for (std::string line; std::getline(counts, line);) {
      if (line.starts_with(kTotal)) sum += std::strtod(line.c_str() + kTotal.size(), nullptr);
    }
    ++last;
  }
}

/// Of what was counted until the first answer, and then until each other one: the start, or the
/// lower quartile of the further calls. Some calls meet a look at the files that are watched, or a
/// pipe that is not quite full or empty, and very few cost less than the others.
double figure_of(const Situation& situation, std::vector<double> counts) {
  if (counts.size() != situation.first + situation.further) bench::die("an answer was not seen");
  if (situation.first == 0) return counts[0];
  const auto first = counts.begin() + static_cast<std::ptrdiff_t>(situation.first);
  const auto quarter = first + (counts.end() - first) / 4;
  std::nth_element(first, quarter, counts.end());
  return *quarter;
}

}  // namespace

double system_calls(const Situation& situation) {
  const testing::TemporaryDirectory directory;
  const std::string log = directory / "log";
  Words strace = {"strace", "-o", log};
  strace.insert(strace.end(), situation.left_out.begin(), situation.left_out.end());
  {
    Program program(command(situation, strace));
    make_calls(program, situation.first + situation.further);
  }
  const std::string id = "\\\"id\\\":" + std::to_string(bench::kFirstId / 1000);
  std::vector<double> counts = {0};
  std::ifstream text(log);
  for (std::string line; std::getline(text, line);) {
    if (line.find('(') != line.npos) ++counts.back();
    if (line.starts_with("write") && line.find(id) != line.npos) counts.push_back(0);
  }
  counts.pop_back();  // the end
  return figure_of(situation, std::move(counts));
}

double page_faults(const Situation& situation) {
  Program program(command(situation, {}));
  const double before = situation.first == 0 ? 0 : page_faults_after(program, situation.first);
  return (page_faults_after(program, situation.further) - before) /
         static_cast<double>(situation.further);
}

double instructions(const Situation& situation) {
  const testing::TemporaryDirectory directory;
  const std::string file = directory / "counts.";
  // The system's function is the last thing that happens before an answer can be read.
  Program program(
      command(situation, {"valgrind", "--tool=callgrind", "--log-file=/dev/null", "--dump-line=no",
                          "--dump-before=write*", "--callgrind-out-file=" + file + "%p"}));
  std::vector<double> counts;
  std::size_t last = 0;
  for (std::size_t i = 0; i < situation.first + situation.further; ++i) {
    make_calls(program, 1);
    counts.push_back(next_counts(file + std::to_string(program.pid()), last));
  }
  if (last == 0) bench::die("callgrind has counted nothing");
  return figure_of(situation, std::move(counts));
}

}  // namespace sitter::cost
