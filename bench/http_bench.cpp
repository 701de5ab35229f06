// Measures the built program in front of a daemon that speaks Streamable HTTP. The benchmark plays
// the client, and fake-mcp is a daemon that costs almost nothing. The daemon is reached with
// libcurl, through a relay that uses libcurl, through a relay that does as little as possible, or
// through mcp-sitter. All run in turn on one core, so that a ratio within a round is meaningful
// even on a machine that does other work.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "curl_calls.hpp"
#include "gate.hpp"
#include "options.hpp"
#include "program.hpp"
#include "table.hpp"
#include "tls_front.hpp"

namespace sitter::bench {
namespace {

constexpr std::size_t kCallsBeforeIdle = 10'000;
constexpr std::size_t kWaitingCalls = 10'000;
/// So many requests may be under way at once, and the daemon may answer them in any order.
constexpr std::size_t kUnderWayMax = 32;

constexpr std::size_t kCurl = 0;
constexpr std::size_t kCurlRelay = 1;
constexpr std::size_t kRelay = 2;
constexpr std::size_t kSitter = 3;
constexpr std::size_t kWays = 4;

/// One value per round for each of the setups.
using Figure = std::array<std::vector<double>, kWays>;

struct Options : CommonOptions {
  Options() : CommonOptions("abcd", 1000) {}

  std::string relay = built("http_relay");
  std::string curl_relay = built("curl_relay");
  bool has_events = false;
  double absence = 30;

  std::vector<std::string> command(std::size_t way, const std::string& url) const {
    if (way == kCurlRelay) return {curl_relay, url};
    if (way == kRelay) return {relay, url};
    return {sitter, "--http", url, "--wait-for-server", fmt::format("{}", absence + 60)};
  }
};

std::string local_url(std::uint16_t port) { return fmt::format("http://127.0.0.1:{}/mcp", port); }

/// A running fake-mcp that listens.
class Daemon {
 public:
  explicit Daemon(const Options& options) {
    std::vector<std::string> command = {
        options.fake_mcp, "--fast", "--result-bytes", fmt::format("{}", small_result()),
        "--http",         "0",      "--life-limit",   "600"};
    if (options.has_events) command.emplace_back("--http-sse");
    started_ = start_program(command, Streams::errors);
    char line[200];
    const ssize_t count = read(started_.errors, line, sizeof line);
    const std::string_view said(line, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    const std::size_t colon = said.rfind(':');
    if (colon == said.npos) die("fake-mcp does not listen");
    std::from_chars(said.data() + colon + 1, said.data() + said.size(), port_);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    kill(started_.pid, SIGKILL);
    waitpid(started_.pid, nullptr, 0);
    close(started_.errors);
  }

  std::uint16_t port() const { return port_; }
  std::string url() const { return local_url(port_); }

 private:
  Started started_;
  std::uint16_t port_ = 0;
};

/// A way to the daemon whose session is open.
class Way {
 public:
  Way(const Options& options, std::size_t way) : daemon_(options) {
    if (way == kCurl) {
      curl_.emplace(daemon_.url());
      curl_->call(without_end(kInitialize));
      curl_->call(without_end(kInitialized));
    } else {
      program_.emplace(options.command(way, daemon_.url()));
      program_->warm_up(0);
    }
    for (const std::string& line : call_lines(200)) call(line);
  }

  /// Returns the number of bytes of the answer.
  std::size_t call(std::string_view line) {
    if (program_) return program_->call(line);
    return curl_->call(without_end(line)).size() + 1;
  }

  /// Of the program between client and daemon, or of this process.
  Micros cpu_time() const { return cpu_time_of(program_ ? program_->pid() : getpid()); }

 private:
  static std::string_view without_end(std::string_view line) {
    return line.substr(0, line.size() - 1);
  }

  Daemon daemon_;
  std::optional<CurlCalls> curl_;
  std::optional<Program> program_;
};

/// Calls `measure(way)` in turn for the setups that can be measured.
template <class Measure>
void in_turn(int round, const Options& options, Measure measure) {
  bench::in_turn(round, kWays, [&](std::size_t way) {
    const bool needs_curl = way == kCurl || way == kCurlRelay;
    const bool is_there = !needs_curl || CurlCalls::is_there();
    // Libcurl would not understand an event stream, and the relay does not.
    if (is_there && (way == kSitter || !options.has_events)) measure(way);
  });
}

void row(std::string_view what, const std::array<std::string, kWays>& cells,
         std::string_view against_curl, std::string_view against_relay, std::string_view goal) {
  fmt::print("| {:<32} | {:>8} | {:>10} | {:>10} | {:>10} | {:<18} | {:<18} | {:<32} |\n", what,
             cells[kCurl], cells[kCurlRelay], cells[kRelay], cells[kSitter], against_curl,
             against_relay, goal);
  std::fflush(stdout);
}

/// The ratios within each round: their median and quartiles.
std::string compared(const Figure& figure, std::size_t with) {
  if (figure[with].empty() || figure[kSitter].empty()) return {};
  std::vector<double> ratios;
  for (std::size_t round = 0; round < figure[kSitter].size(); ++round) {
    ratios.push_back(figure[kSitter][round] / figure[with][round]);
  }
  return fmt::format("x {:.2f} [{:.2f} {:.2f}]", median(ratios), quantile(ratios, 0.25),
                     quantile(ratios, 0.75));
}

void add_compared(std::string_view what, const Figure& figure, int digits, std::string_view goal) {
  std::array<std::string, kWays> cells;
  for (std::size_t way = 0; way < kWays; ++way) {
    if (!figure[way].empty()) cells[way] = fmt::format("{:.{}f}", median(figure[way]), digits);
  }
  row(what, cells, compared(figure, kCurl), compared(figure, kRelay), goal);
}

void add(std::string_view what, const std::string& value, std::string_view goal) {
  std::array<std::string, kWays> cells;
  cells[kSitter] = value;
  row(what, cells, "", "", goal);
}

void add_header() {
  row("", {"libcurl", "curl relay", "http relay", "mcp-sitter"}, "against libcurl",
      "against http relay", "goal");
  row("---", {"---:", "---:", "---:", "---:"}, "---", "---", "---");
}

/// One call after the other, each after the answer to the call before.
void round_trip(const Options& options) {
  constexpr int kBlocks = 5;
  constexpr std::size_t kWarmUp = 50;
  const std::vector<std::string> calls = call_lines(options.calls + kWarmUp);
  Figure medians, p99s, cpu;
  for (int round = 0; round < options.rounds; ++round) {
    std::array<std::optional<Way>, kWays> ways;
    Figure times;
    std::array<Micros, kWays> cpu_time{};
    in_turn(round, options, [&](std::size_t way) { ways[way].emplace(options, way); });
    // Blocks are short and take turns, so that a disturbance affects all setups.
    for (int block = 0; block < kBlocks; ++block) {
      in_turn(round, options, [&](std::size_t way) {
        const Micros cpu_before = ways[way]->cpu_time();
        for (std::size_t i = 0; i < calls.size(); ++i) {
          const auto begin = Clock::now();
          const std::size_t bytes = ways[way]->call(calls[i]);
          const auto end = Clock::now();
          if (bytes != kMessageBytes) die("an answer has the wrong size");
          if (i >= kWarmUp) times[way].push_back(Micros(end - begin).count());
        }
        cpu_time[way] += ways[way]->cpu_time() - cpu_before;
      });
    }
    for (std::size_t way = 0; way < kWays; ++way) {
      if (!ways[way]) continue;
      medians[way].push_back(median(times[way]));
      p99s[way].push_back(quantile(times[way], 0.99));
      cpu[way].push_back(cpu_time[way].count() / static_cast<double>(kBlocks * calls.size()));
    }
  }
  add_compared("round trip, median, us", medians, 1, "<= 1.20 x libcurl, 1.15 x relay");
  add_compared("round trip, p99, us", p99s, 1, "");
  add_compared("  of this, CPU time, us", cpu, 2, "<= 1.30 x relay");
}

/// The resident memory after the opening and one call, and after many more.
void memory_of_session(const std::vector<std::string>& command, std::string_view what,
                       std::string_view goal) {
  Program program(command);
  program.warm_up(1);
  add(fmt::format("resident when idle, {}, MB", what),
      fmt::format("{:.2f}", memory_of(program.pid(), "VmRSS:")), goal);
  for (std::size_t i = 0; i < kCallsBeforeIdle; ++i) program.call(call_line(kFirstId + i));
  add("  after 10,000 calls, MB", fmt::format("{:.2f}", memory_of(program.pid(), "VmRSS:")),
      "as when idle");
}

void memory(const Options& options) {
  const Daemon daemon(options);
  memory_of_session(options.command(kSitter, daemon.url()), "http", "< 4.00 (static)");
  const TlsFront front(daemon.port());
  std::vector<std::string> command = options.command(kSitter, front.url());
  command.insert(command.end(), {"--cacert", front.cacert()});
  memory_of_session(command, "https", "< 8.00 (static)");
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

/// The daemon comes back while a call waits for it.
void comeback(const Options& options) {
  const Daemon daemon(options);
  Gate gate(daemon.port());
  Program program(options.command(kSitter, local_url(gate.port())));
  program.warm_up(1);
  std::vector<double> since_accept, since_listening;
  gate.shut();
  for (int round = 0; round < options.rounds; ++round) {
    program.write_all(call_line(kFirstId));
    // Each round meets another moment between two tries.
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + 17 * round % 100));
    const auto listening = Clock::now();
    gate.open();
    if (read_results(program, 1).empty()) die("a call was lost");
    const auto answered = Clock::now();
    gate.shut();
    since_accept.push_back(Millis(answered - gate.first_accept().value_or(answered)).count());
    since_listening.push_back(Millis(answered - listening).count());
  }
  add("back, first accept to answer, ms", fmt::format("{:.2f}", median(since_accept)), "");
  add("  longest, ms", fmt::format("{:.2f}", quantile(since_accept, 1)), "<= 100");
  add("  since it listens, longest, ms", fmt::format("{:.2f}", quantile(since_listening, 1)), "");
}

/// Many calls come while the daemon is away.
void absence(const Options& options) {
  const Daemon daemon(options);
  Gate gate(daemon.port());
  Program program(options.command(kSitter, local_url(gate.port())));
  program.warm_up(1);
  gate.shut();
  const auto begin = Clock::now();
  for (const std::string& call : call_lines(kWaitingCalls)) program.write_all(call);
  std::this_thread::sleep_until(begin + std::chrono::duration<double>(options.absence));
  const double resident = memory_of(program.pid(), "VmRSS:");
  const auto back = Clock::now();
  gate.open();
  const std::vector<std::size_t> places = read_results(program, kWaitingCalls);
  const Millis time = Clock::now() - back;
  std::vector<bool> is_answered(kWaitingCalls);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= kWaitingCalls || is_answered[places[i]]) {
      die("there was an answer without a call");
    }
    is_answered[places[i]] = true;
    // A call is sent only after all but the last few before it were answered.
    if (places[i] >= i + kUnderWayMax) ++wrong;
  }
  add(fmt::format("{:g} s away, 10,000 calls, lost", options.absence),
      fmt::format("{}", kWaitingCalls - places.size()), "0");
  add("  sent out of order", fmt::format("{}", wrong), "0");
  add("  all answered after, ms", fmt::format("{:.0f}", time.count()), "");
  add("  resident while away, MB", fmt::format("{:.1f}", resident), "");
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Measures mcp-sitter between a client and a daemon that speaks Streamable HTTP, and compares "
      "it with libcurl and with a relay that does as little as possible.");
  app.add_option("--relay", options.relay, "the yardstick")->capture_default_str();
  app.add_option("--curl-relay", options.curl_relay, "the same with libcurl")
      ->capture_default_str();
  app.add_flag("--events", options.has_events,
               "let the daemon answer with event streams, and measure only mcp-sitter");
  app.add_option("--absence", options.absence, "for how many seconds the daemon is away in d")
      ->capture_default_str();
  options.add_to(app, "a round trip, b memory, c the daemon comes back, d calls while it is away");
  CLI11_PARSE(app, argc, argv);

  options.begin();
  if (!CurlCalls::is_there()) fmt::print("this program was built without libcurl\n\n");
  add_header();
  if (options.has('a')) round_trip(options);
  if (options.has('b')) memory(options);
  if (options.has('c')) comeback(options);
  if (options.has('d')) absence(options);
  return 0;
}

}  // namespace
}  // namespace sitter::bench

int main(int argc, char** argv) { return sitter::bench::run(argc, argv); }
