#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "support/simulation_cli_world.hpp"
#include "support/simulation_http_world.hpp"
#include "support/simulation_world.hpp"

/// Plays seeds. Each seed is the whole life of a bridge with a random client, random children and a
/// random clock. With --http, the children are daemons that are reached over HTTP; with --cli, the
/// child is a command-line tool. The program ends at the first broken promise.
namespace {

using sitter::sim::Broken;
using sitter::sim::CliWorld;
using sitter::sim::Digest;
using sitter::sim::HttpWorld;
using sitter::sim::Tally;
using sitter::sim::World;

constexpr std::uint64_t kFirstSeed = 1;

struct Options {
  /// Plays only this seed, and prints its story.
  std::optional<std::uint64_t> seed;
  std::uint64_t first = kFirstSeed;
  std::uint64_t count = 20'000;
  /// How long to play, instead of a number of seeds.
  std::optional<std::uint64_t> seconds;
  bool prints_digest = false;
};

/// The name of this program, for the command that plays a seed again.
std::string program = "sitter_sim";
std::uint64_t current_seed = 0;
/// Servers that were opened again because they had restarted themselves.
int own_restarts = 0, seeds_with_own_restarts = 0;
/// What has happened in a world with a played child.
Tally tally;
enum class Played { none, http, cli };
Played played = Played::none;

void print_command(std::FILE* out) {
  static constexpr const char* kFlags[] = {"", " --http", " --cli"};
  std::fprintf(out, "play it again: %s%s --seed %llu\n", program.c_str(),
               kFlags[static_cast<int>(played)], static_cast<unsigned long long>(current_seed));
}

/// Handles a failed assertion of the core, or a crash. Prints at least the seed.
void on_crash(int signal) {
  std::printf("seed %llu ended with signal %d\n", static_cast<unsigned long long>(current_seed),
              signal);
  print_command(stdout);
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// The promise that was broken; empty if every promise was kept.
std::optional<std::string> play(std::uint64_t seed, std::FILE* story, Digest* digest) {
  current_seed = seed;
  try {
    if (played == Played::http) {
      HttpWorld(seed, story, digest, tally).play();
      return std::nullopt;
    }
    if (played == Played::cli) {
      CliWorld(seed, story, digest, tally).play();
      return std::nullopt;
    }
    World world(seed, story, digest);
    world.play();
    own_restarts += world.own_restarts();
    if (world.own_restarts() > 0) ++seeds_with_own_restarts;
  } catch (const Broken& broken) {
    return broken.what();
  }
  return std::nullopt;
}

void print_digest(const Digest& digest) {
  std::printf("digest %016llx\n", static_cast<unsigned long long>(digest.value()));
}

int play_one(const Options& options) {
  const std::uint64_t seed = *options.seed;
  Digest digest;
  const auto wrong = play(seed, stdout, &digest);
  if (options.prints_digest) print_digest(digest);
  if (!wrong) {
    std::printf("seed %llu: every promise was kept\n", static_cast<unsigned long long>(seed));
    return EXIT_SUCCESS;
  }
  std::printf("BROKEN: %s\n", wrong->c_str());
  return EXIT_FAILURE;
}

int play_many(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  const auto is_left = [&](std::uint64_t count) {
    return options.seconds ? Clock::now() < begun + std::chrono::seconds(*options.seconds)
                           : count < options.count;
  };
  std::uint64_t count = 0;
  Digest digest;
  for (; is_left(count); ++count) {
    const std::uint64_t seed = options.first + count;
    if (!play(seed, nullptr, options.prints_digest ? &digest : nullptr)) continue;
    const auto wrong = play(seed, stdout, nullptr);
    std::printf("BROKEN by seed %llu: %s\n", static_cast<unsigned long long>(seed),
                wrong ? wrong->c_str() : "it breaks only when its story is not printed");
    print_command(stdout);
    return EXIT_FAILURE;
  }
  const double took = std::chrono::duration<double>(Clock::now() - begun).count();
  std::printf("%llu seeds from %llu on kept every promise, in %.1f s\n",
              static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(options.first), took);
  for (const auto& [what, times] : tally) std::printf("%8d %s\n", times, what.c_str());
  if (played == Played::none) {
    std::printf("in %d of them %d servers restarted themselves and were opened again\n",
                seeds_with_own_restarts, own_restarts);
  }
  if (options.prints_digest) print_digest(digest);
  return EXIT_SUCCESS;
}

std::optional<Options> parsed(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--digest") {
      options.prints_digest = true;
      continue;
    }
    if (name == "--http" || name == "--cli") {
      played = name == "--http" ? Played::http : Played::cli;
      continue;
    }
    if (++i == argc) return std::nullopt;
    const std::string_view text = argv[i];
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (name == "--seed") {
      options.seed = number;
    } else if (name == "--seeds") {
      options.count = number;
    } else if (name == "--first") {
      options.first = number;
    } else if (name == "--seconds") {
      options.seconds = number;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  program = argv[0];
  const auto options = parsed(argc, argv);
  if (!options) {
    std::fprintf(
        stderr,
        "usage: %s [--http | --cli] [--digest] [--seed N | [--first N] [--seeds N | --seconds S]]\n"
        "  --seed N     play seed N and print its whole story\n"
        "  --seeds N    play N seeds (default 20000)\n"
        "  --first N    begin with seed N (default 1)\n"
        "  --seconds S  play for S seconds instead of N seeds\n"
        "  --http       reach the children over HTTP\n"
        "  --cli        run a command-line tool\n"
        "  --digest     print a hash over all facts and orders that were played\n",
        argv[0]);
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, on_crash);
  return options->seed ? play_one(*options) : play_many(*options);
}
