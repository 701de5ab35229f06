#include "core/report/old_code.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class OldCodeTest : public ::testing::Test {
 protected:
  /// The children whose sources were to be looked at since the last call.
  std::vector<Generation> looks() {
    std::vector<Generation> looks;
    while (const auto order = out_.poll())
      looks.push_back(std::get<order::LookAtSources>(*order).gen);
    return looks;
  }
  void call(Generation gen) { code_.on_request(gen, now_, out_); }
  bool check(Generation gen, const std::string& file = "", seconds when = seconds(0)) {
    return code_.on_checked({gen, file, WallTime() + when, milliseconds(50)});
  }
  std::string untold(Generation gen) const {
    const OldCode::Change* const change = code_.untold(gen);
    return change == nullptr ? "" : change->file;
  }

  Now now_{Instant() + seconds(1000), WallTime() + seconds(1000)};
  Orders out_;
  OldCode code_{true};
};

using Looks = std::vector<Generation>;

TEST_F(OldCodeTest, ChecksTakeATwentiethOfTheTimeAtMost) {
  ASSERT_EQ(limits::kSourceLookShare, 20);
  call(1);
  call(1);
  EXPECT_EQ(looks(), Looks{1});
  check(1);
  now_.steady += milliseconds(999);
  call(1);
  EXPECT_EQ(looks(), Looks());
  now_.steady += milliseconds(1);
  call(2);
  EXPECT_EQ(looks(), Looks{2});
}

TEST_F(OldCodeTest, AnUnfinishedCheckIsNotFollowedByAnother) {
  call(1);
  now_.steady += seconds(60);
  call(1);
  EXPECT_EQ(looks(), Looks{1});
  check(1);
  call(1);
  EXPECT_EQ(looks(), Looks{1});
}

TEST_F(OldCodeTest, ChecksNothingWhenItIsOff) {
  code_ = OldCode(false);
  call(1);
  EXPECT_EQ(looks(), Looks());
}

TEST_F(OldCodeTest, EachChangeIsToldOnce) {
  EXPECT_EQ(untold(kNoGeneration), "");
  EXPECT_FALSE(check(1));
  EXPECT_EQ(untold(1), "");
  EXPECT_TRUE(check(1, "a.py", seconds(5)));
  EXPECT_EQ(untold(1), "a.py");
  code_.on_told();
  EXPECT_EQ(untold(1), "");
  EXPECT_FALSE(check(1, "a.py", seconds(5)));
  EXPECT_EQ(untold(1), "");
  EXPECT_TRUE(check(1, "a.py", seconds(6)));
  EXPECT_EQ(untold(1), "a.py");
}

TEST_F(OldCodeTest, RepeatsAnUnreadChange) {
  check(1, "a.py", seconds(5));
  code_.on_told();
  code_.on_unread();
  EXPECT_EQ(untold(1), "a.py");
}

TEST_F(OldCodeTest, AChangeBelongsToOneChild) {
  check(1, "a.py", seconds(5));
  EXPECT_EQ(untold(2), "");
  check(2, "b.py", seconds(4));
  EXPECT_EQ(untold(2), "b.py");
  EXPECT_EQ(untold(1), "");
  // The look was ordered before the second child served.
  EXPECT_FALSE(check(1, "c.py", seconds(9)));
  EXPECT_EQ(untold(2), "b.py");
}

TEST_F(OldCodeTest, TheTextNamesTheFileItsAgeAndWhatToDo) {
  EXPECT_EQ(old_code_text({"src/server.py", now_.wall - seconds(5)},
                          "call sitter_kill, then call again", now_.wall),
            "src/server.py changed 5s ago and this answer is still the old code's: call "
            "sitter_kill, then call again");
}

TEST_F(OldCodeTest, ALongNameIsCut) {
  const std::string name(limits::kSourceNameMax, 'a');
  const auto text = [&](const std::string& file) {
    return old_code_text({file, now_.wall}, "sitter_kill", now_.wall);
  };
  EXPECT_EQ(text(name).find("cut]"), std::string::npos);
  EXPECT_NE(text(name + "\n.py").find("cut]"), std::string::npos);
}

}  // namespace
}  // namespace sitter
