// Sends about a thousand requests a second to the built program, while the server is killed,
// rebuilt and reloaded, and its files are saved, at random. Counts requests that were lost or
// answered twice, and processes and files that were left behind. Shows the memory of the bridge
// over time.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "soak/session.hpp"

namespace sitter::soak {
namespace {

struct Options {
  SessionSetup session{.sitter = SITTER_PROGRAM, .fake_mcp = SITTER_FAKE_MCP};
  int sessions = 1;
  int seconds = 60;
  int between_rests = 60;
  std::uint64_t seed = std::random_device()();
};

constexpr char kInside[] = "SITTER_SOAK_INSIDE";

/// Starts this program again in a process namespace of its own. There it can only kill processes of
/// its own, and none of them survives it. Returns if no namespace can be made, because not every
/// user may make one.
void enter_namespace(char** argv) {
  if (std::getenv(kInside) != nullptr) return;
  setenv(kInside, "1", 1);
  const std::string usual = "unshare --pid --fork --mount-proc --kill-child";
  for (const std::string& command : {usual, usual + " --user --map-root-user"}) {
    if (std::system((command + " true 2>/dev/null").c_str()) != 0) continue;
    const std::string whole = "exec " + command + " -- \"$0\" \"$@\"";
    std::vector<char*> words;
    for (const char* word : {"sh", "-c", whole.c_str()}) words.push_back(const_cast<char*>(word));
    for (; *argv != nullptr; ++argv) words.push_back(*argv);
    words.push_back(nullptr);
    execv("/bin/sh", words.data());
  }
  unsetenv(kInside);
}

/// Options that differ between sessions. Many seeds together try all of them.
std::vector<std::string> some_options(sim::Random& random) {
  std::vector<std::string> options;
  const auto maybe = [&](int percent, const char* name, const char* value) {
    if (random.chance(percent)) options.insert(options.end(), {name, value});
  };
  maybe(30, "--on-busy", "interrupt");
  maybe(60, "--restart", random.chance(50) ? "on-crash" : "eager");
  maybe(30, "--kill-grace", random.chance(50) ? "0" : "50");
  return options;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + word;
  return text;
}

/// Compares the memory in the second quarter of the session with the memory in the last quarter. In
/// the first quarter, rings and caches still fill. A difference of half a MiB is usual: the memory
/// in use stays the same, but what stands at the end of the heap decides how much of the heap can
/// be given back. Returns false if the session was too short for the comparison.
bool check_memory(const std::vector<Memory>& rests, Findings& findings) {
  constexpr std::size_t kRestsMin = 12;
  constexpr std::size_t kGrowthMax = 1024;
  if (rests.size() < kRestsMin) return false;
  const std::size_t quarter = rests.size() / 4;
  const auto mean_from = [&](std::size_t first) {
    std::size_t sum = 0;
    for (std::size_t i = first; i < first + quarter; ++i) sum += rests[i].own_at_rest;
    return sum / quarter;
  };
  const std::size_t early = mean_from(quarter);
  const std::size_t late = mean_from(rests.size() - quarter);
  if (late > early + kGrowthMax) {
    findings.add(Promise::memory_flat, "from " + std::to_string(early) + " to " +
                                           std::to_string(late) + " kB of its own at rest");
  }
  return true;
}

int soak(Options options) {
  for (const int number : {SIGINT, SIGTERM}) {
    std::signal(number, [](int) { is_asked_to_end = 1; });
  }
  std::printf("seed %llu, %s\n", static_cast<unsigned long long>(options.seed),
              options.session.has_namespace ? "in a process namespace of its own"
                                            : "without a process namespace of its own");
  sim::Random random(options.seed);
  Findings findings;
  bool has_checked_memory = false;
  for (int i = 0; i < options.sessions && !is_asked_to_end; ++i) {
    options.session.length = std::chrono::seconds(options.seconds / options.sessions);
    options.session.between_rests = std::chrono::seconds(options.between_rests);
    options.session.more_options = some_options(random);
    std::printf("\noptions:%s\n", joined(options.session.more_options).c_str());
    print_head_of_table();
    has_checked_memory |= check_memory(play_session(options.session, random, findings), findings);
  }
  if (!has_checked_memory) findings.pass_over(Promise::memory_flat);
  std::printf("\n");
  findings.print();
  return findings.is_empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace sitter::soak

int main(int argc, char** argv) {
  using namespace sitter::soak;
  enter_namespace(argv);
  Options options;
  options.session.has_namespace = std::getenv(kInside) != nullptr;
  CLI::App app{"Puts mcp-sitter under load, and counts what it loses"};
  app.add_option("--sitter", options.session.sitter, "the program");
  app.add_option("--seed", options.seed, "the seed of all that is done at random");
  app.add_option("--seconds", options.seconds, "how long it runs in all")
      ->check(CLI::PositiveNumber);
  app.add_option("--sessions", options.sessions, "how many bridges, one after the other")
      ->check(CLI::PositiveNumber);
  app.add_option("--between-rests", options.between_rests, "seconds from one count to the next")
      ->check(CLI::PositiveNumber);
  app.add_option("--rate", options.session.calls_per_second, "requests per second")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (options.sessions > options.seconds) {
    std::fprintf(
        stderr, "--sessions %d does not fit into --seconds %d: a session takes at least a second\n",
        options.sessions, options.seconds);
    return 2;
  }
  return soak(std::move(options));
}
