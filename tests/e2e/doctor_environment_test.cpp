#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/doctor.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class DoctorEnvironment : public DoctorTest {
 protected:
  /// Writes a server that opens only if this test of the shell succeeds.
  std::string server_if(const std::string& condition) const {
    return directory_.write_script(
        "server",
        "test " + condition + " || { echo 'no key' >&2; exit 4; }; exec " + fake_in_shell());
  }

  Run examine(const std::string& server, std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--json", "--", server});
    return run(std::move(options));
  }
};

TEST_F(DoctorEnvironment, AServerThatNeedsNothingOpens) {
  const Run run = examine(server_if("-n \"$HOME\""));
  EXPECT_EQ(run.json()["environment"]["opensWithShort"], true) << run.output;
  EXPECT_EQ(run.json()["environment"]["starts"], 1);
  EXPECT_EQ(run.json()["warnings"], 0);
}

TEST_F(DoctorEnvironment, TheNeededVariableIsNamedAndItsValueIsNot) {
  environment_ = {"NOTES_KEY=hidden7", "OTHER_KEY=hidden8"};
  const std::string server = server_if("\"$NOTES_KEY\" = hidden7");
  const Run run = examine(server);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.json()["environment"]["needed"], ElementsAre("NOTES_KEY"));
  EXPECT_EQ(run.json()["environment"]["exact"], true);
  EXPECT_LE(run.json()["environment"]["starts"], 24);
  EXPECT_THAT(run.about("environment"),
              AllOf(HasSubstr("exit 4"), HasSubstr("--env NOTES_KEY=\"$NOTES_KEY\"")));
  EXPECT_THAT(run.output + run.error, Not(HasSubstr("hidden")));

  const Run given = examine(server, {"--env", "NOTES_KEY=hidden7"});
  EXPECT_EQ(given.json()["environment"]["opensWithShort"], true) << given.output;
  EXPECT_THAT(given.output + given.error, Not(HasSubstr("hidden")));
}

TEST_F(DoctorEnvironment, AnEntryOfPathIsFound) {
  directory_.write_script("inner-of-doctor", "exec " + fake_in_shell());
  environment_ = {"PATH=" + directory_.path() + ":" + std::getenv("PATH")};
  const Run run = examine(directory_.write_script("server", "exec inner-of-doctor"));
  EXPECT_THAT(run.json()["environment"]["needed"], ElementsAre("PATH")) << run.output;
  // The command itself may be what only this PATH has.
  const Run named = examine("inner-of-doctor");
  EXPECT_THAT(named.json()["environment"]["needed"], ElementsAre("PATH")) << named.output;
  EXPECT_THAT(named.about("environment"), HasSubstr("not found in PATH"));
}

TEST_F(DoctorEnvironment, SeveralVariablesAreFoundTogether) {
  environment_ = {"KEY_ONE=1", "KEY_TWO=2"};
  const Run run = examine(server_if("\"$KEY_ONE$KEY_TWO\" = 12"));
  EXPECT_THAT(run.json()["environment"]["needed"], UnorderedElementsAre("KEY_ONE", "KEY_TWO"))
      << run.output;
}

TEST_F(DoctorEnvironment, TheSearchEndsAtItsBound) {
  std::string condition = "\"";
  std::string values;
  for (int i = 0; i < 16; ++i) {
    environment_.push_back("KEY_" + std::to_string(i) + "=x");
    condition += "$KEY_" + std::to_string(i);
    values += "x";
  }
  const Run run = examine(server_if(condition + "\" = " + values));
  EXPECT_EQ(run.json()["environment"]["exact"], false) << run.output;
  EXPECT_EQ(run.json()["environment"]["starts"], 24);
  EXPECT_THAT(run.about("environment"), HasSubstr("after 24 starts"));
  for (int i = 0; i < 16; ++i) {
    EXPECT_THAT(run.json()["environment"]["needed"],
                ::testing::Contains("KEY_" + std::to_string(i)));
  }
}

TEST_F(DoctorEnvironment, TheCheckCanBeLeftOut) {
  const Run run = examine(server_if("-n \"$HOME\""), {"--no-environment"});
  EXPECT_EQ(run.json()["environment"], nullptr) << run.output;
}

}  // namespace
}  // namespace sitter::testing
