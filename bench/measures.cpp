#include "measures.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sitter::bench {
namespace {

std::string call_lines(std::size_t count) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) lines += call_line(kFirstId + i);
  return lines;
}

/// By then, a bridge has given back what an idle one does not need.
constexpr std::chrono::seconds kRest{5};

/// So that no measured call does anything for the first time.
void warm_up(Caller& caller, std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) caller.call(call_line(kFirstId + i), 1);
}

Micros time_of(const Run& run, Caller& caller, std::string_view lines, std::size_t count) {
  const auto begin = Clock::now();
  const std::size_t bytes = caller.call(lines, count);
  const auto end = Clock::now();
  run.check(bytes, count);
  return end - begin;
}

void start(Run& run, std::string_view until, std::string_view line) {
  constexpr int kStarts = 7;
  Figure times = run.figure();
  run.each_round([&](int, std::size_t way) {
    std::vector<double> of_round;
    for (int i = 0; i < kStarts; ++i) {
      const auto begin = Clock::now();
      Program program(run.command(way));
      if (!line.empty()) program.call(line, 1);
      of_round.push_back(Millis(Clock::now() - begin).count());
    }
    times[way].push_back(median(of_round));
  });
  run.add(fmt::format("start to {} answered, ms", until), times, 2);
}

/// A call whose answer takes longer than this is lost.
constexpr std::chrono::seconds kAnswerWait{60};

/// Reads lines until each of the calls has its answer or is lost. An answer may carry a notice, and
/// other messages may stand between them. Returns the places of the calls in the order of the
/// answers.
std::vector<std::size_t> read_results(Program& program, std::size_t count) {
  constexpr std::string_view kStart = R"json({"jsonrpc":"2.0","id":)json";
  std::string rest;
  std::vector<std::size_t> places;
  while (places.size() < count && program.speaks_within(kAnswerWait)) {
    rest += program.read_some();
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != rest.npos; begin = end + 1) {
      const std::string_view line = std::string_view(rest).substr(begin, end - begin);
      if (!line.starts_with(kStart)) continue;
      std::size_t id = 0;
      std::from_chars(line.data() + kStart.size(), line.data() + line.size(), id);
      const bool is_result = line.find("\"result\":{\"content\":") != line.npos &&
                             line.find("\"isError\"") == line.npos;
      if (!is_result) die(fmt::format("a call has failed: {}", line.substr(0, 300)));
      places.push_back(id - kFirstId);
    }
    rest.erase(0, begin);
  }
  return places;
}

}  // namespace

void round_trip(Run& run) {
  constexpr int kBlocks = 5;
  const std::size_t of_warm_up = run.calls() / 10;
  std::vector<std::string> calls;
  for (std::size_t i = 0; i < run.calls() + of_warm_up; ++i) {
    calls.push_back(call_line(kFirstId + i));
  }
  Figure medians = run.figure(), p99s = run.figure(), cpu = run.figure();
  for (int round = 0; round < run.options().rounds; ++round) {
    std::vector<std::unique_ptr<Caller>> callers(run.ways());
    std::vector<Micros> spent(run.ways());
    Figure times = run.figure();
    run.in_turn(round, [&](std::size_t way) {
      callers[way] = run.open(way);
      warm_up(*callers[way], run.calls() / 5);
    });
    // Blocks are short and take turns, so that a disturbance affects all middles.
    for (int block = 0; block < kBlocks; ++block) {
      run.in_turn(round, [&](std::size_t way) {
        Caller& caller = *callers[way];
        const Micros before = cpu_time_of(caller.pid());
        for (std::size_t i = 0; i < calls.size(); ++i) {
          const Micros time = time_of(run, caller, calls[i], 1);
          if (i >= of_warm_up) times[way].push_back(time.count());
        }
        spent[way] += cpu_time_of(caller.pid()) - before;
      });
    }
    for (std::size_t way = 0; way < run.ways(); ++way) {
      medians[way].push_back(median(times[way]));
      p99s[way].push_back(quantile(times[way], 0.99));
      if (!run.middle(way).is_between) continue;
      cpu[way].push_back(spent[way].count() / static_cast<double>(kBlocks * calls.size()));
    }
  }
  run.add("round trip, median, us", medians, 1);
  run.add("round trip, p99, us", p99s, 1);
  run.add("  of this, CPU time, us", cpu, 1);
}

void pipelined(Run& run) {
  constexpr std::size_t kCalls = 100'000;
  constexpr std::size_t kPiece = 64 * 1024;
  const std::string calls = call_lines(kCalls);
  Figure rates = run.figure(), cpu = run.figure();
  run.each_round([&](int, std::size_t way) {
    Program program(run.command(way));
    warm_up(program, 200);
    const Micros cpu_before = cpu_time_of(program.pid());
    const auto begin = Clock::now();
    std::thread writer([&] {
      for (std::size_t at = 0; at < calls.size(); at += kPiece) {
        program.write_all(std::string_view(calls).substr(at, kPiece));
      }
    });
    const std::size_t bytes = program.read_answers(kCalls);
    const Micros time = Clock::now() - begin;
    const Micros spent = cpu_time_of(program.pid()) - cpu_before;
    writer.join();
    run.check(bytes, kCalls);
    rates[way].push_back(double{kCalls} / time.count());
    if (run.middle(way).is_between) cpu[way].push_back(spent.count() * 1000 / double{kCalls});
  });
  run.add("100,000 calls at once, million/s", rates, 2);
  run.add("  of this, CPU time, ns per call", cpu, 0);
}

void at_once(Run& run) {
  constexpr std::size_t kAtOnce = 8;  // the bridge runs no more at once by default
  const std::string calls = call_lines(kAtOnce);
  Figure alone = run.figure(), all = run.figure(), over = run.figure();
  run.each_round([&](int, std::size_t way) {
    const std::unique_ptr<Caller> caller = run.open(way);
    warm_up(*caller, 1);
    const Millis one = time_of(run, *caller, call_line(kFirstId), 1);
    const Millis eight = time_of(run, *caller, calls, kAtOnce);
    alone[way].push_back(one.count());
    all[way].push_back(eight.count());
    over[way].push_back((eight - one).count());
  });
  run.add("one call, ms", alone, 2);
  run.add("8 calls at once, ms", all, 2);
  run.add("  more than one call, ms", over, 2);
}

void large(Run& run) {
  constexpr int kFirst = 2;  // these take memory that later calls use again
  constexpr int kFurther = 5;
  const std::string line = call_line(kFirstId, run.server().call_bytes);
  Figure times = run.figure(), faults = run.figure(), peak = run.figure(), later = run.figure();
  run.each_round([&](int round, std::size_t way) {
    Program program(run.command(way));
    for (int i = 0; i < kFirst; ++i) time_of(run, program, line, 1);
    const double faults_before = page_faults_of(program.pid());
    std::vector<double> of_round;
    for (int i = 0; i < kFurther; ++i) {
      of_round.push_back(Millis(time_of(run, program, line, 1)).count());
    }
    times[way].push_back(median(of_round));
    if (!run.middle(way).is_between) return;
    faults[way].push_back((page_faults_of(program.pid()) - faults_before) / kFurther);
    peak[way].push_back(memory_of(program.pid(), "VmHWM:"));
    // One measurement of the returned memory is enough, because it does not vary.
    if (round > 0) return;
    std::this_thread::sleep_for(kRest);
    later[way].push_back(memory_of(program.pid(), "VmRSS:"));
  });
  run.add("call to answer, ms", times, 2);
  run.add("  page faults for each call", faults, 1);
  run.add("  peak resident, MB", peak, 1);
  run.add("  resident five seconds later, MB", later, 1);
}

void memory(Run& run) {
  struct Moment {
    std::string_view when;
    /// At least one, since the bridge lists the tools of its child after the opening.
    std::size_t calls;
    Figure resident, anonymous;
  };
  std::array<Moment, 4> moments = {{{"after one call", 1, run.figure(), run.figure()},
                                    {"five seconds later", 1, run.figure(), run.figure()},

                                    {"after 1,000 calls", 1'000, run.figure(), run.figure()},
                                    {"after 10,000 calls", 10'000, run.figure(), run.figure()}}};
  for (std::size_t way = 0; way < run.ways(); ++way) {
    Program program(run.command(way));
    std::size_t calls = 0;
    for (Moment& moment : moments) {
      if (calls == moment.calls) std::this_thread::sleep_for(kRest);
      while (calls < moment.calls) program.call(call_line(kFirstId + calls++), 1);

      moment.resident[way].push_back(memory_of(program.pid(), "VmRSS:"));
      moment.anonymous[way].push_back(memory_of(program.pid(), "RssAnon:"));
    }
  }
  for (const Moment& moment : moments) {
    run.add(fmt::format("resident {}, MB", moment.when), moment.resident, 2);
    run.add("  of this, backed by no file, MB", moment.anonymous, 2);
  }
}

void start_to_initialize(Run& run) { start(run, "initialize", ""); }

void start_to_list(Run& run) {
  start(run, "list", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
}

void comeback(Run& run) {
  Front& front = *run.server().front;
  Program program(run.command(0));
  warm_up(program, 1);
  front.shut();
  std::vector<double> since_accept, since_listening;
  run.each_round([&](int round, std::size_t) {
    program.write_all(call_line(kFirstId));
    // Each round meets another moment between two tries.
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + 17 * round % 100));
    const auto listening = Clock::now();
    front.open();
    if (read_results(program, 1).empty()) die("a call was lost");
    const auto answered = Clock::now();
    front.shut();
    since_accept.push_back(Millis(answered - front.first_accept().value_or(answered)).count());
    since_listening.push_back(Millis(answered - listening).count());
  });
  run.add("back, first accept to answer, ms", {since_accept}, 2);
  run.add("  longest, ms", {{quantile(since_accept, 1)}}, 2);
  run.add("  since it listens, longest, ms", {{quantile(since_listening, 1)}}, 2);
}

void absence(Run& run) {
  constexpr std::size_t kCalls = 10'000;
  /// So many requests may be under way at once, and the daemon may answer them in any order.
  constexpr std::size_t kUnderWayMax = 32;
  Front& front = *run.server().front;
  Program program(run.command(0));
  warm_up(program, 1);
  front.shut();
  const auto begin = Clock::now();
  program.write_all(call_lines(kCalls));
  std::this_thread::sleep_until(begin + std::chrono::duration<double>(run.options().absence));
  const double resident = memory_of(program.pid(), "VmRSS:");
  const auto back = Clock::now();
  front.open();
  const std::vector<std::size_t> places = read_results(program, kCalls);
  const Millis time = Clock::now() - back;
  std::vector<bool> is_answered(kCalls);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= kCalls || is_answered[places[i]]) die("there was an answer without a call");
    is_answered[places[i]] = true;
    // A call is sent only after all but the last few before it were answered.
    if (places[i] >= i + kUnderWayMax) ++wrong;
  }
  const auto count = [](std::size_t number) { return Figure{{static_cast<double>(number)}}; };
  run.add(fmt::format("{:g} s away, 10,000 calls, lost", run.options().absence),
          count(kCalls - places.size()), 0);
  run.add("  sent out of order", count(wrong), 0);
  run.add("  all answered after, ms", {{time.count()}}, 0);
  run.add("  resident while away, MB", {{resident}}, 1);
}

}  // namespace sitter::bench
