// What the built program costs, beside the numbers that were written down. None of this is a time.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>

#include "bench/program.hpp"
#include "cost/figures.hpp"
#include "cost/numbers.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::cost {

static void PrintTo(const Situation& situation, std::ostream* out) { *out << situation.name; }

namespace {

using ::testing::Combine;
using ::testing::ValuesIn;

TEST(CostNumberTest, ATenthMoreOrLessIsNoDefect) {
  EXPECT_EQ(defect_of(110, 100), "");
  EXPECT_EQ(defect_of(90, 100), "");
}

TEST(CostNumberTest, MoreThanATenthIsACost) {
  EXPECT_EQ(defect_of(111, 100), "111 instead of 100 (+11 %): find out what costs more");
  EXPECT_EQ(defect_of(256, 0), "256 instead of 0: find out what costs more");
}

TEST(CostNumberTest, AGainOfMoreThanATenthIsADefectToo) {
  EXPECT_EQ(defect_of(89, 100), "89 instead of 100 (-11 %): keep the gain");
}

TEST(CostNumberTest, HalfOfOneMoreOrLessIsNoDefect) {
  EXPECT_EQ(defect_of(0.5, 0), "");
  EXPECT_EQ(defect_of(2.5, 3), "");
  EXPECT_NE(defect_of(4, 3), "");
}

TEST(CostNumberTest, ANumberIsWrittenInItsLine) {
  const ::sitter::testing::TemporaryDirectory directory;
  const std::string file = directory.write("numbers", "# a\nc start 1\nc start-2 2\n");
  Numbers(file).set("c start", 3);
  Numbers(file).set("d start", 0.2);
  EXPECT_EQ(::sitter::testing::contents_of(file), "# a\nc start 3\nc start-2 2\nd start 0.2\n");
  EXPECT_EQ(Numbers(file).of("c start"), 3);
  EXPECT_EQ(Numbers(file).of("c"), std::nullopt);
}

const Situation kSituations[] = {
    {.name = "start", .result_bytes = bench::kSmallResult, .first = 0, .further = 1},
    {.name = "small-call", .result_bytes = bench::kSmallResult, .first = 20, .further = 30},
    // How often the program waits for a large result, and whether a pipe is full just then, depends
    // on who is faster.
    {.name = "10-mb-result",
     .result_bytes = 10'000'000,
     .first = 2,
     .further = 10,
     .left_out = {"--successful-only", "-e", "trace=!%file,epoll_wait,epoll_ctl"}}};

struct Kind {
  std::string_view name;
  double (*figure)(const Situation&);
  /// It is rounded to whole numbers after it was multiplied with this.
  double scale;
  /// On a busy machine, a figure may be off once.
  int tries;
};
constexpr Kind kKinds[] = {
    {"system-calls", system_calls, 1, 3},
    {"page-faults", page_faults, 10, 3},
    {"instructions", instructions, 1, 1},
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class CostTest : public ::testing::TestWithParam<std::tuple<Situation, Kind>> {
 protected:
  static void SetUpTestSuite() {
    static const ::sitter::testing::TemporaryDirectory home;
    for (const char* const name :
         {"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}) {
      setenv(name, home.path().c_str(), 1);
    }
    // All processes share one core, and none interrupts another that wakes it. So each of them
    // works until it has to wait, and moves as many bytes at once as it can.
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &core);
    sched_setaffinity(0, sizeof core, &core);
    const sched_param normal{};
    sched_setscheduler(0, SCHED_BATCH, &normal);
  }
};

TEST_P(CostTest, IsAsWrittenDown) {
  const auto& [situation, kind] = GetParam();
  const std::string name = fmt::format("{} {} {}", SITTER_COST_COMPILER, situation.name, kind.name);
  Numbers numbers(SITTER_COST_NUMBERS);
  const auto number = numbers.of(name);
  const bool writes = std::getenv("SITTER_WRITE_COSTS") != nullptr;
  if (!number && !writes) {
    GTEST_SKIP() << "not judged: " << SITTER_COST_NUMBERS << " has no number for " << name
                 << "; ./dev costs writes it";
  }
  double figure = 0;
  std::string defect = "not measured";
  for (int i = 0; i < kind.tries && !defect.empty(); ++i) {
    figure = std::round(kind.figure(situation) * kind.scale) / kind.scale;
    if (writes) return numbers.set(name, figure);
    defect = defect_of(figure, *number);
  }
  if (defect.empty()) return;
  ADD_FAILURE() << fmt::format(
      "{}; if this is meant, write\n{} {}\ninto tests/cost/numbers.txt, or run ./dev costs, which "
      "writes all of them",
      defect, name, figure);
}

INSTANTIATE_TEST_SUITE_P(Each, CostTest, Combine(ValuesIn(kSituations), ValuesIn(kKinds)),
                         [](const auto& test) {
                           std::string name = fmt::format("{}_{}", std::get<0>(test.param).name,
                                                          std::get<1>(test.param).name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sitter::cost
