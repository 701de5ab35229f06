#include "support/simulation_cli_run.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "sitter/cli.hpp"

namespace sitter::sim {
namespace {

constexpr int kHandful = 4;

}  // namespace

std::string run_word(int mark) { return fmt::format("<run {}>", mark); }

std::string run_text(int mark, Random& random) {
  const std::string word = run_word(mark);
  switch (random.weighted({50, 15, 15, 10, 10})) {
    case 0:
      return word + " has written this\n";
    case 1:
      return fmt::format(R"json({{"run":"{}"}})json", word);
    case 2:
      return fmt::format(R"json({{"content":[{{"type":"text","text":"{}"}}]}})json", word);
    case 3:
      return fmt::format(R"json({{"half":"{})json", word);
    default:
      return "";
  }
}

CliRun::CliRun(Generation generation, int mark, std::string text, Random& random, int faults)
    : Unit(generation), call(mark) {
  const auto is_wrong = [&](int one_in) {
    return random.chance(faults) && random.below(one_in) == 0;
  };
  switch (random.weighted({50, 30, 8, faults / 6})) {
    case 0:
      ends_after = Milliseconds(random.below(3));
      break;
    case 1:
      ends_after = Milliseconds(random.below(800));
      break;
    case 2:
      ends_after = Milliseconds(random.below(20'000));
      break;
    default:
      break;
  }
  const Milliseconds lasts = ends_after.value_or(Milliseconds(2000));
  const auto any_moment = [&] {
    return Milliseconds(random.below(static_cast<int>(lasts.count()) + 1));
  };
  if (is_wrong(20)) {
    text +=
        std::string(limits::kRunOutputMax + static_cast<std::size_t>(random.below(300'000)), 'y') +
        run_word(mark) + "\n";
  }
  Milliseconds after{};
  while (!text.empty()) {
    const bool is_rest = text.size() < 2 || random.chance(60);
    const std::size_t size =
        is_rest ? text.size()
                : 1 + static_cast<std::size_t>(random.below(static_cast<int>(text.size()) - 1));
    after = std::max(after, any_moment());
    writes.push_back({after, text.substr(0, size)});
    text.erase(0, size);
  }
  for (int count = random.chance(60) ? 0 : random.between(1, kHandful); count > 0; --count) {
    writes_errors.push_back({any_moment(), fmt::format("{} works, {}", run_word(mark), count)});
  }
  if (is_wrong(2)) {
    status = random.pick(std::array{ExitStatus{1, ""}, ExitStatus{3, ""},
                                    ExitStatus{139, "SIGSEGV"}, ExitStatus{143, "SIGTERM"}});
  }
  if (is_wrong(4)) closes_output_after = any_moment();

  const std::int64_t pid = 1'000'000 + 10 * static_cast<std::int64_t>(kFirstRun - generation);
  processes.push_back({pid, true, true, true, is_wrong(3), is_wrong(12)});
  for (int i = is_wrong(3) ? random.between(1, 2) : 0; i > 0; --i) {
    processes.push_back({pid + i, false, true, random.chance(50), random.chance(50), false});
  }
  if (random.chance(50)) departs_after = any_moment() + Milliseconds(random.below(50));
}

}  // namespace sitter::sim
