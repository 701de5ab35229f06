#include "core/child/absence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sitter {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Property;

class AbsenceTest : public ::testing::Test {
 protected:
  Now at(int second) const { return {Instant() + seconds(second), WallTime() + seconds(second)}; }
  void refuse(int second) { absence_.on_refused("refused", Milliseconds(2000), at(second)); }

  Absence absence_;
};

TEST_F(AbsenceTest, BeginsWithTheFirstRefusalAndEndsWithAMessage) {
  EXPECT_FALSE(absence_.is_on());
  EXPECT_FALSE(absence_.holds());
  refuse(10);
  EXPECT_TRUE(absence_.is_on());
  EXPECT_TRUE(absence_.holds());
  EXPECT_EQ(absence_.why(), "refused");
  EXPECT_EQ(absence_.again_at(), at(12).steady);
  refuse(20);
  EXPECT_EQ(absence_.since().steady, at(10).steady);
  EXPECT_EQ(absence_.again_at(), at(22).steady);
  absence_.on_heard();
  EXPECT_FALSE(absence_.is_on());
  EXPECT_EQ(absence_.again_at(), std::nullopt);
  refuse(30);
  EXPECT_EQ(absence_.since().steady, at(30).steady);
}

TEST_F(AbsenceTest, ATryLetsLinesThroughAndIsStillAbsence) {
  absence_.on_try();
  EXPECT_FALSE(absence_.is_on());
  refuse(10);
  absence_.on_try();
  EXPECT_TRUE(absence_.is_on());
  EXPECT_FALSE(absence_.holds());
  EXPECT_EQ(absence_.again_at(), std::nullopt);
  refuse(20);
  EXPECT_TRUE(absence_.holds());
  EXPECT_EQ(absence_.since().steady, at(10).steady);
}

TEST_F(AbsenceTest, NothingChangesALoss) {
  refuse(10);
  absence_.on_losing();
  refuse(20);
  absence_.on_try();
  absence_.on_heard();
  EXPECT_FALSE(absence_.is_on());
  EXPECT_TRUE(absence_.holds());
  EXPECT_EQ(absence_.again_at(), std::nullopt);
}

TEST_F(AbsenceTest, RefusedLinesAreTakenOnceInTheirOrder) {
  const OwnedLine first(std::string("first")), second(std::string("second"));
  absence_.keep(first.line());
  absence_.keep(second.line());
  EXPECT_THAT(absence_.take_refused(), ElementsAre(Property(&OwnedLine::text, "first"),
                                                   Property(&OwnedLine::text, "second")));
  EXPECT_THAT(absence_.take_refused(), IsEmpty());
}

TEST_F(AbsenceTest, ARequestIsRepeatedOnce) {
  EXPECT_TRUE(absence_.may_repeat("1"));
  EXPECT_FALSE(absence_.may_repeat("1"));
  EXPECT_TRUE(absence_.may_repeat("2"));
}

}  // namespace
}  // namespace sitter
