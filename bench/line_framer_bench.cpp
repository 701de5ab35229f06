#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "core/wire/line_framer.hpp"
#include "inputs.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// Splits bytes into lines, as a reader of a pipe does: each read fills the space that the framer
/// offers, but at most `read_max` bytes. The copy stands for the read.
void frame(benchmark::State& state, const std::string& stream, std::size_t read_max) {
  LineFramer framer;
  std::size_t lines = 0;
  for (auto _ : state) {
    for (std::size_t at = 0; at < stream.size();) {
      const std::span<char> space = framer.space();
      const std::size_t count = std::min({space.size(), read_max, stream.size() - at});
      std::memcpy(space.data(), stream.data() + at, count);
      framer.filled(count);
      at += count;
      while (auto framed = framer.next()) {
        benchmark::DoNotOptimize(framed);
        ++lines;
      }
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(stream.size()));
  state.SetItemsProcessed(static_cast<std::int64_t>(lines));
}

std::string lines_of(std::size_t bytes, std::size_t total) {
  const std::string line = std::string(bytes - 1, 'x') + "\n";
  std::string stream;
  while (stream.size() < total) stream += line;
  return stream;
}

// A lively session: many lines in each read, the last of them incomplete.
void BM_FrameManyLinesPerRead(benchmark::State& state) {
  frame(state, lines_of(bench::bytes_of(state), limits::kMiB), limits::kMiB);
}
BENCHMARK(BM_FrameManyLinesPerRead)->Arg(64)->Arg(200)->Arg(4096);

// A request and its answer: one line in each read.
void BM_FrameOneLinePerRead(benchmark::State& state) {
  frame(state, lines_of(bench::bytes_of(state), bench::bytes_of(state)), limits::kMiB);
}
BENCHMARK(BM_FrameOneLinePerRead)->Arg(200)->Arg(4096);

// A line that is larger than any read. It is scanned as well.
void BM_FrameLongLine(benchmark::State& state) {
  frame(state, lines_of(bench::bytes_of(state), bench::bytes_of(state)), 64 * limits::kKiB);
}
BENCHMARK(BM_FrameLongLine)->Arg(limits::kMiB)->Arg(10 * limits::kMiB);

}  // namespace
}  // namespace sitter
