#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>

#include "core/child/stderr_ring.hpp"
#include "inputs.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// Adds to a full ring, as when a child floods its stderr.
void add(benchmark::State& state, const std::string& line) {
  StderrRing ring(limits::kStderrLinesDefault);
  for (std::size_t i = 0; i < limits::kStderrLinesDefault; ++i) ring.add(1, line);
  for (auto _ : state) ring.add(1, line);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(line.size()));
}

void BM_AddPlainLine(benchmark::State& state) {
  add(state, std::string(bench::bytes_of(state), 'x'));
}
BENCHMARK(BM_AddPlainLine)->Arg(64)->Arg(4096);

// Colours and multi-byte characters, which must be removed or checked.
void BM_AddColouredLine(benchmark::State& state) {
  std::string line;
  while (line.size() < bench::bytes_of(state)) line += "\x1b[31mFehler\x1b[0m für \xE2\x82\xAC 5 ";
  add(state, line);
}
BENCHMARK(BM_AddColouredLine)->Arg(64)->Arg(4096);

// A line that is longer than the kept part of a line.
void BM_AddLongLine(benchmark::State& state) { add(state, std::string(limits::kMiB, 'x')); }
BENCHMARK(BM_AddLongLine);

void BM_Grep(benchmark::State& state) {
  StderrRing ring(limits::kStderrLinesDefault);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < limits::kStderrLinesDefault; ++i) {
    const std::string line =
        "2026-01-01T00:00:00Z INFO request " + std::to_string(i) + " took 5 ms";
    ring.add(1, line);
    bytes += static_cast<std::int64_t>(line.size());
  }
  StderrRing::Query query;
  query.grep = "(error|request 9+[0-9]) .*took";
  for (auto _ : state) benchmark::DoNotOptimize(ring.text(query));
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(BM_Grep);

// The lines that a crash report quotes.
void BM_Tail(benchmark::State& state) {
  StderrRing ring(limits::kStderrLinesDefault);
  const std::string line(100, 'x');
  for (std::size_t i = 0; i < limits::kStderrLinesDefault; ++i) ring.add(1, line);
  for (auto _ : state) benchmark::DoNotOptimize(ring.last_words(1));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(limits::kReportLinesMax * line.size()));
}
BENCHMARK(BM_Tail);

}  // namespace
}  // namespace sitter
