#include "io/process/unit_mark.hpp"

#include <gtest/gtest.h>

#include "io/process/process_unit.hpp"
#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using testing::read_line;
using testing::shell;
using testing::write_line;

/// The mark that a process shows after it has executed `command`.
std::optional<Generation> seen_of(const std::string& command, Generation gen,
                                  const ProcessRecord& bridge = this_process()) {
  Child child("sh", shell("exec " + command + " cat"), gen);
  // The answer shows that the process has completed its last exec.
  if (!child.started() || !write_line(child->input, "there") ||
      read_line(child->output) != "there") {
    return std::nullopt;
  }
  return marked_generation(child.pid(), bridge);
}

TEST(UnitMark, NamesTheGenerationOfAChildOrABuild) {
  EXPECT_EQ(seen_of("", 3), 3);
  EXPECT_EQ(seen_of("", -3), -3);
}

TEST(UnitMark, EitherOfItsFormsIsEnough) {
  EXPECT_EQ(seen_of("env -i", 3), 3);
  EXPECT_EQ(seen_of("prlimit --locks=unlimited", 3), 3);
  // A bridge behind this bridge sets such a limit.
  EXPECT_EQ(seen_of("prlimit --locks=5:unlimited", 3), 3);
  EXPECT_EQ(seen_of("prlimit --locks=unlimited env -i", 3), std::nullopt);
}

TEST(UnitMark, IsOfOneBridge) {
  ProcessRecord other = this_process();
  ++other.pid;
  EXPECT_EQ(seen_of("", 3, other), std::nullopt);
  other = this_process();
  ++other.start;
  EXPECT_EQ(seen_of("", 3, other), std::nullopt);
  EXPECT_EQ(marked_generation(getpid(), this_process()), std::nullopt);
}

TEST(UnitMark, AGenerationThatDoesNotFitHasTheEnvironmentAlone) {
  constexpr Generation kLast = (1 << 19) - 1;
  for (const Generation gen : {kLast, -kLast - 1}) EXPECT_EQ(seen_of("env -i", gen), gen);
  for (const Generation gen : {kLast + 1, -kLast - 2}) {
    EXPECT_EQ(unit_lock_limit(this_process(), gen), std::nullopt);
    EXPECT_EQ(seen_of("", gen), gen);
  }
}

}  // namespace
}  // namespace sitter
