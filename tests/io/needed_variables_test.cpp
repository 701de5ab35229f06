#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "doctor/environment_check.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

/// A server that opens only with these variables.
class Needing {
 public:
  explicit Needing(std::set<std::string> needed, int starts_max = 1000)
      : needed_(std::move(needed)), starts_left_(starts_max) {}

  NeededVariables search(std::vector<std::string> names) {
    return find_needed_variables(
        std::move(names), [this](const auto& chosen) -> std::optional<bool> {
          if (starts_left_ == 0) return std::nullopt;
          --starts_left_;
          ++starts_;
          const std::set<std::string> given(chosen.begin(), chosen.end());
          return std::includes(given.begin(), given.end(), needed_.begin(), needed_.end());
        });
  }

  int starts() const { return starts_; }

 private:
  std::set<std::string> needed_;
  int starts_left_;
  int starts_ = 0;
};

std::vector<std::string> many() {
  std::vector<std::string> names = {"PATH"};
  for (int i = 0; i < 63; ++i) names.push_back("V" + std::to_string(i));
  return names;
}

TEST(NeededVariables, PathAloneTakesOneStart) {
  Needing server({"PATH"});
  EXPECT_THAT(server.search(many()).names, ElementsAre("PATH"));
  EXPECT_EQ(server.starts(), 1);
}

TEST(NeededVariables, FindsOneOfManyByBisection) {
  for (const std::string name : {"V0", "V31", "V62"}) {
    Needing server({name});
    const NeededVariables found = server.search(many());
    EXPECT_THAT(found.names, ElementsAre(name));
    EXPECT_TRUE(found.is_exact);
    EXPECT_FALSE(found.is_unsteady);
    EXPECT_THAT(server.starts(), Le(15));
  }
}

TEST(NeededVariables, SeveralAreFoundWithPathAndWithout) {
  EXPECT_THAT(Needing({"PATH", "V5"}).search(many()).names, ElementsAre("PATH", "V5"));
  EXPECT_THAT(Needing({"V1", "V5", "V40"}).search(many()).names,
              UnorderedElementsAre("V1", "V5", "V40"));
}

TEST(NeededVariables, TwoOfManyAreFoundWithinTheBound) {
  Needing server({"V5", "V40"}, 24);
  const NeededVariables found = server.search(many());
  EXPECT_THAT(found.names, UnorderedElementsAre("V5", "V40"));
  EXPECT_TRUE(found.is_exact);
}

TEST(NeededVariables, TheNamesSufficeEvenAtTheLimitOfStarts) {
  for (int starts = 0; starts < 24; ++starts) {
    Needing server({"V5", "V30", "V40"}, starts);
    const NeededVariables found = server.search(many());
    const std::set<std::string> names(found.names.begin(), found.names.end());
    for (const std::string name : {"V5", "V30", "V40"}) EXPECT_TRUE(names.contains(name)) << starts;
    EXPECT_EQ(found.is_exact, names.size() == 3);
  }
}

TEST(NeededVariables, AServerThatDoesNotOpenWithAllIsUnsteady) {
  EXPECT_TRUE(Needing({"elsewhere"}).search(many()).is_unsteady);
  EXPECT_TRUE(Needing({"elsewhere"}).search({}).is_unsteady);
  EXPECT_TRUE(Needing({"elsewhere"}).search({"PATH"}).is_unsteady);
}

}  // namespace
}  // namespace sitter
