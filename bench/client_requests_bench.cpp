#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "core/client/client_requests.hpp"

namespace sitter {
namespace {

/// Adds, sends and answers requests in order, while the given number of other requests is in
/// flight. The ids are created beforehand, since the bridge gets them as text.
void add_send_and_take(benchmark::State& state, const std::string& before,
                       const std::string& after) {
  const std::size_t in_flight = static_cast<std::size_t>(state.range(0));
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < 2 * in_flight + 1; ++i) {
    ids.push_back(before + std::to_string(100'000 + i) + after);
  }
  ClientRequests requests;
  const auto send = [&](std::size_t i) {
    requests.mark_sent(requests.add(ids[i % ids.size()]), 1, OwnedLine());
  };
  for (std::size_t i = 0; i < in_flight; ++i) send(i);
  std::size_t at = 0;
  for (auto _ : state) {
    send(at + in_flight);
    requests.take(*requests.find_sent(ids[at % ids.size()], 1));
    ++at;
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_RequestWithIntegerId(benchmark::State& state) { add_send_and_take(state, "", ""); }
BENCHMARK(BM_RequestWithIntegerId)->Arg(0)->Arg(100)->Arg(10'000)->Arg(100'000);

void BM_RequestWithStringId(benchmark::State& state) {
  // As long as a UUID, so that the small string optimisation does not apply.
  add_send_and_take(state, "\"0f8fad5b-d9cb-469f-a165-7086", "\"");
}
BENCHMARK(BM_RequestWithStringId)->Arg(0)->Arg(10'000);

// An id that cannot be its own key: it must first be read as a number.
void BM_RequestWithOddId(benchmark::State& state) { add_send_and_take(state, "", ".0"); }
BENCHMARK(BM_RequestWithOddId)->Arg(0);

}  // namespace
}  // namespace sitter
