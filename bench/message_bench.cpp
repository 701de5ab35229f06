#include <benchmark/benchmark.h>

#include <string>

#include "core/wire/message.hpp"
#include "inputs.hpp"
#include "sitter/line.hpp"

namespace sitter {
namespace {

void read(benchmark::State& state, const std::string& text) {
  const OwnedLine line{std::string_view(text)};
  MessageReader reader;
  for (auto _ : state) {
    const Message* message = reader.read(line.line());
    if (message == nullptr) {
      state.SkipWithError("the line is no message");
      return;
    }
    benchmark::DoNotOptimize(message);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void BM_ReadCall(benchmark::State& state) {
  read(state, bench::call("7", static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(BM_ReadCall)->Arg(bench::kSmallCall)->Arg(1024)->Arg(100 * 1024);

void BM_ReadTextResult(benchmark::State& state) {
  read(state, bench::result_first_id("7", bench::text_result(bench::bytes_of(state))));
}
BENCHMARK(BM_ReadTextResult)->Apply(bench::message_sizes);

// The server of the TypeScript SDK writes the id last, so the reader must walk to the end of every
// result.
void BM_ReadTextResultIdLast(benchmark::State& state) {
  read(state, bench::result_last_id("7", bench::text_result(bench::bytes_of(state))));
}
BENCHMARK(BM_ReadTextResultIdLast)->Apply(bench::message_sizes);

void BM_ReadDenseResult(benchmark::State& state) {
  read(state, bench::result_first_id("7", bench::dense_result(bench::bytes_of(state))));
}
BENCHMARK(BM_ReadDenseResult)->Apply(bench::message_sizes);

void BM_ReadDenseResultIdLast(benchmark::State& state) {
  read(state, bench::result_last_id("7", bench::dense_result(bench::bytes_of(state))));
}
BENCHMARK(BM_ReadDenseResultIdLast)->Apply(bench::message_sizes);

void BM_ReadProgress(benchmark::State& state) {
  read(state,
       R"json({"method":"notifications/progress","params":{"progressToken":7,"progress":3,)json"
       R"json("total":10,"message":"three of ten"},"jsonrpc":"2.0"})json");
}
BENCHMARK(BM_ReadProgress);

}  // namespace
}  // namespace sitter
