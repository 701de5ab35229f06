#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/wire/message.hpp"
#include "inputs.hpp"
#include "sitter/bridge.hpp"

namespace sitter {
namespace {

/// A bridge with an open session, whose child has no unanswered requests.
class OpenBridge {
 public:
  OpenBridge() : bridge_(config(), now_) {
    client(R"json({"jsonrpc":"2.0","id":0,"method":"initialize","params":)json"
           R"json({"protocolVersion":"2025-11-25","capabilities":{},)json"
           R"json("clientInfo":{"name":"bench","version":"1"}}})json");
    client(R"json({"jsonrpc":"2.0","method":"notifications/initialized"})json");
  }

  /// Feeds a line and drops the resulting orders to send.
  void pass(const Fact& line) {
    bridge_.handle(line, now_);
    while (auto order = bridge_.poll_order()) benchmark::DoNotOptimize(order);
  }

  std::size_t owed_count() const { return bridge_.owed_count(); }

 private:
  static BridgeConfig config() {
    BridgeConfig config;
    config.command = "server";
    return config;
  }

  void client(std::string_view text) {
    const OwnedLine line(text);
    feed(fact::ClientLine{line.line()});
  }

  void feed(const Fact& fact) {
    bridge_.handle(fact, now_);
    std::vector<Fact> facts;
    std::vector<OwnedLine> answers;
    while (auto order = bridge_.poll_order()) {
      if (const auto* start = std::get_if<order::StartChild>(&*order)) {
        facts.emplace_back(fact::ChildStarted{start->gen, 4711});
      } else if (const auto* sent = std::get_if<order::SendToChild>(&*order)) {
        if (auto answer = answer_to(sent->line.text())) answers.emplace_back(std::move(*answer));
      } else if (const auto* const inspect = std::get_if<order::InspectBinary>(&*order)) {
        facts.emplace_back(fact::BinaryInspected{inspect->look, {}});
      }
    }
    for (const Fact& next : facts) feed(next);
    for (const OwnedLine& answer : answers) feed(fact::ChildLine{1, answer.line()});
  }

  std::optional<std::string> answer_to(std::string_view text) {
    const OwnedLine line(text);
    const Message* const message = reader_.read(line.line());
    switch (message->method) {
      case Method::initialize:
        return bench::result_first_id(
            message->id, R"json({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)json"
                         R"json("serverInfo":{"name":"server","version":"1"}})json");
      case Method::tools_list:
        return bench::result_first_id(
            message->id, R"json({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})json");
      default:
        return std::nullopt;
    }
  }

  Now now_{};
  Bridge bridge_;
  MessageReader reader_;
};

/// Feeds `count` calls and then their answers. With 1 it measures a round trip, with more it
/// measures many calls at once.
void call_and_answer(benchmark::State& state, std::size_t count, std::size_t bytes,
                     const std::string& result) {
  OpenBridge bridge;
  std::vector<OwnedLine> calls;
  std::vector<OwnedLine> answers;
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string id = std::to_string(100'000 + i);
    calls.emplace_back(bench::call(id, bytes));
    answers.emplace_back(bench::result_first_id(id, result));
    total += calls.back().size() + answers.back().size();
  }
  for (auto _ : state) {
    for (const OwnedLine& line : calls) bridge.pass(fact::ClientLine{line.line()});
    for (const OwnedLine& line : answers) bridge.pass(fact::ChildLine{1, line.line()});
  }
  if (bridge.owed_count() > 0) state.SkipWithError("a call was not answered");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(total));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}

void BM_CallAndAnswer(benchmark::State& state) {
  call_and_answer(state, 1, 200, bench::text_result(bench::bytes_of(state)));
}
BENCHMARK(BM_CallAndAnswer)->Arg(64)->Arg(4096)->Arg(1024 * 1024);

void BM_ManyCallsAndAnswers(benchmark::State& state) {
  call_and_answer(state, static_cast<std::size_t>(state.range(0)), 200, bench::text_result(64));
}
BENCHMARK(BM_ManyCallsAndAnswers)->Arg(100)->Arg(10'000)->Arg(100'000);

void BM_ChildNotification(benchmark::State& state) {
  OpenBridge bridge;
  const OwnedLine line(std::string_view(
      R"json({"method":"notifications/message","params":{"level":"info","data":"something )json"
      R"json(happened"},"jsonrpc":"2.0"})json"));
  for (auto _ : state) bridge.pass(fact::ChildLine{1, line.line()});
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(line.size()));
}
BENCHMARK(BM_ChildNotification);

}  // namespace
}  // namespace sitter
