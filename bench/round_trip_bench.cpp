// Measures the built program from outside. The benchmark plays the client, and fake-mcp is a child
// that costs almost nothing. The two are connected directly, through a relay that copies bytes, or
// through mcp-sitter. All run in turn on one core, so that a ratio within a round is meaningful
// even on a machine that does other work.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "options.hpp"
#include "program.hpp"
#include "table.hpp"

namespace sitter::bench {
namespace {

constexpr std::size_t kPipelined = 100'000;
constexpr std::size_t kCallsBeforeIdle = 10'000;
constexpr std::size_t kLargeResult = 10'000'000;

constexpr std::size_t kDirect = 0;
constexpr std::size_t kRelay = 1;
constexpr std::size_t kSitter = 2;
constexpr std::size_t kWays = 3;

/// One value per round for each of the setups.
using Figure = std::array<std::vector<double>, kWays>;

struct Options : CommonOptions {
  Options() : CommonOptions("abcde", 1000) {}

  std::string relay = built("relay");

  std::vector<std::string> command(std::size_t way, std::size_t result_bytes) const {
    std::vector<std::string> words;
    if (way == kRelay) words = {relay};
    if (way == kSitter) words = {sitter, "--"};
    words.insert(words.end(),
                 {fake_mcp, "--fast", "--result-bytes", fmt::format("{}", result_bytes)});
    return words;
  }
};

/// One call after the other, each after the answer to the call before.
void round_trip(const Options& options, const Table& table) {
  constexpr int kBlocks = 5;
  constexpr std::size_t kWarmUp = 50;
  std::vector<std::string> calls;
  for (std::size_t i = 0; i < options.calls + kWarmUp; ++i) {
    calls.push_back(call_line(kFirstId + i));
  }
  Figure medians, p99s, cpu;
  for (int round = 0; round < options.rounds; ++round) {
    std::array<std::optional<Program>, kWays> programs;
    Figure times;
    std::array<Micros, kWays> cpu_before{};
    in_turn(round, kWays, [&](std::size_t way) {
      programs[way].emplace(options.command(way, small_result()));
      programs[way]->warm_up(200);
      cpu_before[way] = cpu_time_of(programs[way]->pid());
    });
    // Blocks are short and take turns, so that a disturbance affects all three setups.
    for (int block = 0; block < kBlocks; ++block) {
      in_turn(round, kWays, [&](std::size_t way) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
          const auto begin = Clock::now();
          const std::size_t bytes = programs[way]->call(calls[i]);
          const auto end = Clock::now();
          if (bytes != kMessageBytes) die("an answer has the wrong size");
          if (i >= kWarmUp) times[way].push_back(Micros(end - begin).count());
        }
      });
    }
    for (std::size_t way = 0; way < kWays; ++way) {
      medians[way].push_back(median(times[way]));
      p99s[way].push_back(quantile(times[way], 0.99));
      if (way == kDirect) continue;
      const Micros spent = cpu_time_of(programs[way]->pid()) - cpu_before[way];
      cpu[way].push_back(spent.count() / static_cast<double>(kBlocks * calls.size()));
    }
  }
  table.add("round trip, median, us", medians, 1, Table::Compare::ratio, "<= 1.00 x relay");
  table.add("round trip, p99, us", p99s, 1, Table::Compare::ratio, "<= 1.15 x relay");
  table.add("  of this, CPU time, us", cpu, 2, Table::Compare::ratio, "");
}

/// All calls as fast as the program takes them, written in pieces of 64 KiB.
void pipelined(const Options& options, const Table& table) {
  constexpr std::size_t kPiece = 64 * 1024;
  std::string calls;
  for (std::size_t i = 0; i < kPipelined; ++i) calls += call_line(kFirstId + i);
  Figure rates, cpu;
  for (int round = 0; round < options.rounds; ++round) {
    in_turn(round, kWays, [&](std::size_t way) {
      Program program(options.command(way, small_result()));
      program.warm_up(200);
      const Micros cpu_before = cpu_time_of(program.pid());
      const auto begin = Clock::now();
      std::thread writer([&] {
        for (std::size_t at = 0; at < calls.size(); at += kPiece) {
          program.write_all(std::string_view(calls).substr(at, kPiece));
        }
      });
      const std::size_t bytes = program.read_answers(kPipelined);
      const Micros time = Clock::now() - begin;
      const Micros spent = cpu_time_of(program.pid()) - cpu_before;
      writer.join();
      if (bytes != kPipelined * kMessageBytes) die("an answer has the wrong size");
      rates[way].push_back(static_cast<double>(kPipelined) / time.count());
      if (way != kDirect) cpu[way].push_back(spent.count() * 1000 / double{kPipelined});
    });
  }
  table.add("100,000 calls at once, million/s", rates, 2, Table::Compare::ratio,
            ">= 1.50, or 0.40 x relay");
  table.add("  of this, CPU time, ns per call", cpu, 0, Table::Compare::ratio, "");
}

void start(const Options& options, const Table& table) {
  constexpr int kStarts = 7;
  Figure times;
  for (int round = 0; round < options.rounds; ++round) {
    Figure of_round;
    for (int i = 0; i < kStarts; ++i) {
      in_turn(round, kWays, [&](std::size_t way) {
        const auto begin = Clock::now();
        const Program program(options.command(way, small_result()));
        of_round[way].push_back(Millis(Clock::now() - begin).count());
      });
    }
    for (std::size_t way = 0; way < kWays; ++way) times[way].push_back(median(of_round[way]));
  }
  table.add("start to initialize answered, ms", times, 2, Table::Compare::difference,
            "<= relay + 1.00");
}

void large_result(const Options& options, const Table& table) {
  constexpr int kCalls = 3;
  const std::string call = call_line(kFirstId);
  Figure times, peak, later;
  for (int round = 0; round < options.rounds; ++round) {
    in_turn(round, kWays, [&](std::size_t way) {
      Program program(options.command(way, kLargeResult));
      program.write_all(kInitialized);
      std::vector<double> of_round;
      for (int i = 0; i < kCalls; ++i) {
        const auto begin = Clock::now();
        if (program.call(call) < kLargeResult) die("an answer has the wrong size");
        of_round.push_back(Millis(Clock::now() - begin).count());
      }
      times[way].push_back(median(of_round));
      if (way == kDirect) return;
      peak[way].push_back(memory_of(program.pid(), "VmHWM:"));
      // Waiting takes a second, and one measurement is enough: the returned memory does not vary.
      if (round > 0) return;
      std::this_thread::sleep_for(std::chrono::seconds(1));
      later[way].push_back(memory_of(program.pid(), "VmRSS:"));
    });
  }
  table.add("10 MB result, ms", times, 1, Table::Compare::ratio, "<= 2.00 x relay");
  table.add("  peak resident, MB", peak, 1, Table::Compare::nothing, "<= 32 (static)");
  table.add("  resident one second later, MB", later, 1, Table::Compare::nothing, "as when idle");
}

void memory(const Options& options, const Table& table) {
  // The measurement starts after a first call, since the bridge lists the child's tools after the
  // opening.
  Figure idle, after;
  for (const std::size_t way : {kRelay, kSitter}) {
    Program program(options.command(way, small_result()));
    program.warm_up(1);
    idle[way].push_back(memory_of(program.pid(), "VmRSS:"));
    for (std::size_t i = 0; i < kCallsBeforeIdle; ++i) program.call(call_line(kFirstId + i));
    after[way].push_back(memory_of(program.pid(), "VmRSS:"));
  }
  table.add("resident when idle, MB", idle, 2, Table::Compare::nothing, "< 4.00 (static)");
  table.add("resident after 10,000 calls, MB", after, 2, Table::Compare::nothing, "as when idle");
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Measures mcp-sitter between a client and a child, and compares it with a byte-copying "
      "relay.");
  app.add_option("--relay", options.relay, "the yardstick")->capture_default_str();
  options.add_to(app, "a round trip, b 100,000 calls at once, c start, d 10 MB result, e memory");
  CLI11_PARSE(app, argc, argv);

  options.begin();
  const Table table({"direct", "relay", "mcp-sitter"}, "relay");
  if (options.has('a')) round_trip(options, table);
  if (options.has('b')) pipelined(options, table);
  if (options.has('c')) start(options, table);
  if (options.has('d')) large_result(options, table);
  if (options.has('e')) memory(options, table);
  return 0;
}

}  // namespace
}  // namespace sitter::bench

int main(int argc, char** argv) { return sitter::bench::run(argc, argv); }
