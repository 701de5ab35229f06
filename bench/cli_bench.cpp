// Measures the built program with a command-line tool from outside. The benchmark plays the client,
// and the tools are programs of the system that do almost nothing. The yardstick for a call is a
// bare start of the same command, and that for the bridge itself is the bridge with a server as its
// child. All run in turn on one core, so that a difference within a round is meaningful even on a
// machine that does other work.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options.hpp"
#include "program.hpp"
#include "support/temporary_directory.hpp"
#include "table.hpp"

namespace sitter::bench {
namespace {

constexpr std::size_t kAtOnce = 8;  // the bridge runs no more at once by default

constexpr std::size_t kYardstick = 0;
constexpr std::size_t kCli = 1;
constexpr std::size_t kWays = 2;

/// One value per round for each of the setups.
using Figure = std::array<std::vector<double>, kWays>;

struct Options : CommonOptions {
  Options() : CommonOptions("abcd", 50) {}

  /// The bridge with a server as its child, and with a watch of a file and of the server's program,
  /// which is what --cli watches by itself.
  std::vector<std::string> with_server(const std::string& watched) const {
    return {sitter,
            "--watch",
            watched,
            "--watch-binary",
            "--",
            fake_mcp,
            "--fast",
            "--result-bytes",
            fmt::format("{}", small_result())};
  }
};

/// The argument of each call.
std::string call_text() {
  const std::string line = call_line(kFirstId);
  constexpr std::string_view kBefore = R"json("text":")json";
  const std::size_t begin = line.find(kBefore) + kBefore.size();
  return line.substr(begin, line.find('"', begin) - begin);
}

/// A command that can be run bare and through the bridge.
class Tool {
 public:
  /// The last word may be {text}.
  explicit Tool(std::vector<std::string> words) : words_(std::move(words)) {
    std::string listed;
    for (const std::string& word : words_) listed += fmt::format(R"json(,"{}")json", word);
    description_ = directory_.write(
        "tools.json",
        fmt::format(
            R"json({{"tools":[{{"name":"echo","parameters":{{"type":"object",)json"
            R"json("properties":{{"text":{{"type":"string"}}}}}},"cli_command":[{}]}}]}})json",
            listed.substr(1)));
    if (words_.back() == "{text}") words_.back() = output_ = call_text();
  }

  const std::vector<std::string>& bare() const { return words_; }
  const std::string& description() const { return description_; }
  std::vector<std::string> through(const std::string& sitter) const {
    return {sitter, "--cli", words_.front(), "--schema-file", description_};
  }
  std::size_t output_bytes() const { return output_.size(); }
  std::size_t answer_bytes() const { return kMessageBytes - small_result() + output_.size(); }

 private:
  testing::TemporaryDirectory directory_;
  std::vector<std::string> words_;
  std::string description_;
  std::string output_;
};

std::size_t read_to_end(int descriptor) {
  char buffer[4096];
  std::size_t bytes = 0;
  ssize_t count = 0;
  while ((count = read(descriptor, buffer, sizeof buffer)) > 0) {
    bytes += static_cast<std::size_t>(count);
  }
  close(descriptor);
  return bytes;
}

Started start_bare(const Tool& tool) {
  Started started = start_program(tool.bare(), Streams::all);
  close(std::exchange(started.input, -1));
  return started;
}

void finish_bare(const Tool& tool, const Started& started) {
  const std::size_t bytes = read_to_end(started.output);
  const std::size_t error_bytes = read_to_end(started.errors);
  int status = 0;
  waitpid(started.pid, &status, 0);
  if (status != 0 || error_bytes != 0 || bytes != tool.output_bytes()) die("a command has failed");
}

/// Makes calls at once, either bare or through the program, and returns the time until the last has
/// its answer.
Clock::duration time_of(std::size_t way, const Tool& tool, Program& program,
                        const std::vector<std::string>& calls) {
  const auto begin = Clock::now();
  if (way == kCli) {
    for (const std::string& call : calls) program.write_all(call);
    if (program.read_answers(calls.size()) != calls.size() * tool.answer_bytes()) {
      die("an answer has the wrong size");
    }
  } else {
    std::vector<Started> started;
    for (std::size_t i = 0; i < calls.size(); ++i) started.push_back(start_bare(tool));
    for (const Started& one : started) finish_bare(tool, one);
  }
  return Clock::now() - begin;
}

/// One call after the other, each after the answer to the call before.
void one_by_one(const Options& options, const Table& table, std::string_view name,
                const Tool& tool) {
  constexpr int kBlocks = 5;
  constexpr std::size_t kWarmUp = 5;
  const std::vector<std::string> calls = {call_line(kFirstId)};
  Figure medians, p99s, cpu;
  for (int round = 0; round < options.rounds; ++round) {
    Program program(tool.through(options.sitter));
    program.warm_up(20);
    const std::array<pid_t, kWays> starters = {getpid(), program.pid()};
    Figure times;
    std::array<Micros, kWays> cpu_time{};
    // Blocks are short and take turns, so that a disturbance affects both setups.
    for (int block = 0; block < kBlocks; ++block) {
      in_turn(round, kWays, [&](std::size_t way) {
        const Micros cpu_before = cpu_time_of(starters[way]);
        for (std::size_t i = 0; i < options.calls + kWarmUp; ++i) {
          const Micros time = time_of(way, tool, program, calls);
          if (i >= kWarmUp) times[way].push_back(time.count());
        }
        cpu_time[way] += cpu_time_of(starters[way]) - cpu_before;
      });
    }
    for (std::size_t way = 0; way < kWays; ++way) {
      medians[way].push_back(median(times[way]));
      p99s[way].push_back(quantile(times[way], 0.99));
      cpu[way].push_back(cpu_time[way].count() /
                         static_cast<double>(kBlocks * (options.calls + kWarmUp)));
    }
  }
  table.add(fmt::format("call of {}, median, us", name), medians, 0, Table::Compare::difference,
            "<= bare + 500");
  table.add(fmt::format("call of {}, p99, us", name), p99s, 0, Table::Compare::difference, "");
  table.add("  of this, CPU time of the starter", cpu, 0, Table::Compare::difference, "");
}

void at_once(const Options& options, const Table& table) {
  const Tool tool({"/bin/sleep", "0.05"});
  const std::vector<std::string> calls = call_lines(kAtOnce);
  Figure alone, all, over;
  for (int round = 0; round < options.rounds; ++round) {
    Program program(tool.through(options.sitter));
    program.warm_up(1);
    in_turn(round, kWays, [&](std::size_t way) {
      const Millis one = time_of(way, tool, program, {calls.front()});
      const Millis eight = time_of(way, tool, program, calls);
      alone[way].push_back(one.count());
      all[way].push_back(eight.count());
      over[way].push_back((eight - one).count());
    });
  }
  table.add("sleep 0.05, one call, ms", alone, 2, Table::Compare::difference, "<= bare + 0.50");
  table.add("  8 calls at once, ms", all, 2, Table::Compare::difference, "<= bare + 4.00");
  table.add("  8 calls, more than one call, ms", over, 2, Table::Compare::difference, "");
}

/// What is resident after some calls: in all, and what no file backs.
struct Resident {
  Figure all, anonymous;

  void add(std::size_t way, pid_t pid) {
    all[way].push_back(memory_of(pid, "VmRSS:"));
    anonymous[way].push_back(memory_of(pid, "RssAnon:"));
  }
  void add_to(const Table& table, std::string_view when, std::string_view goal) const {
    table.add(fmt::format("resident {}, MB", when), all, 2, Table::Compare::difference, goal);
    table.add("  of this, RssAnon, MB", anonymous, 2, Table::Compare::difference, "");
  }
};

void memory(const Options& options, const Table& table) {
  const Tool tool({"/bin/echo", "-n", "{text}"});
  Resident idle, after_thousand, after_all;
  for (const std::size_t way : {kYardstick, kCli}) {
    Program program(way == kCli ? tool.through(options.sitter)
                                : options.with_server(tool.description()));
    program.warm_up(1);
    idle.add(way, program.pid());
    std::size_t calls = 0;
    const auto call_until = [&](std::size_t count) {
      while (calls < count) program.call(call_line(kFirstId + calls++));
    };
    call_until(1000);
    after_thousand.add(way, program.pid());
    call_until(10'000);
    after_all.add(way, program.pid());
  }
  idle.add_to(table, "when idle", "as with a server");
  after_thousand.add_to(table, "after 1,000 calls", "as when idle");
  after_all.add_to(table, "after 10,000 calls", "as when idle");
}

void start(const Options& options, const Table& table) {
  constexpr int kStarts = 7;
  const std::string list = std::string(kInitialized) +
                           R"json({"jsonrpc":"2.0","id":1,"method":"tools/list"})json" + "\n";
  const Tool tool({"/bin/echo", "{text}"});
  // `cat` writes the description as a tool does that describes itself.
  const std::vector<std::string> with_run = {options.sitter, "--cli", "/bin/cat", "--schema-args",
                                             tool.description()};
  for (const bool reads_file : {true, false}) {
    Figure times;
    for (int round = 0; round < options.rounds; ++round) {
      Figure of_round;
      for (int i = 0; i < kStarts; ++i) {
        in_turn(round, kWays, [&](std::size_t way) {
          const auto begin = Clock::now();
          Program program(way == kYardstick ? options.with_server(tool.description())
                          : reads_file      ? tool.through(options.sitter)
                                            : with_run);
          program.call(list);
          of_round[way].push_back(Millis(Clock::now() - begin).count());
        });
      }
      for (std::size_t way = 0; way < kWays; ++way) times[way].push_back(median(of_round[way]));
    }
    table.add(reads_file ? "start to list, --schema-file, ms" : "start to list, tool is run, ms",
              times, 2, Table::Compare::difference, "");
  }
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Measures mcp-sitter with a command-line tool, and compares it with bare starts of the same "
      "commands, and with mcp-sitter in front of a server.");
  options.add_to(app, "a one call after the other, b 8 calls at once, c memory, d start");
  CLI11_PARSE(app, argc, argv);

  options.begin();
  const Table table({"yardstick", "--cli"}, "yardstick");
  if (options.has('a')) {
    one_by_one(options, table, "true", Tool({"/bin/true"}));
    one_by_one(options, table, "echo", Tool({"/bin/echo", "-n", "{text}"}));
  }
  if (options.has('b')) at_once(options, table);
  if (options.has('c')) memory(options, table);
  if (options.has('d')) start(options, table);
  return 0;
}

}  // namespace
}  // namespace sitter::bench

int main(int argc, char** argv) { return sitter::bench::run(argc, argv); }
