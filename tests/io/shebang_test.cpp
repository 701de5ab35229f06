#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/process/launch_plan.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FirstLineTest, IsWithoutItsEnd) {
  const testing::TemporaryDirectory directory;
  EXPECT_EQ(first_line_of(directory.write("two", "#!/bin/sh\nexit\n")), "#!/bin/sh");
  EXPECT_EQ(first_line_of(directory.write("open", "#!/bin/sh")), "#!/bin/sh");
  EXPECT_EQ(first_line_of(directory.write("blank", "\nexit\n")), "");
}

TEST(FirstLineTest, EndsAfter256Bytes) {
  const testing::TemporaryDirectory directory;
  const std::string most(256, 'x');
  EXPECT_EQ(first_line_of(directory.write("most", most + "\n")), most);
  EXPECT_EQ(first_line_of(directory.write("more", most + "y\n")), most);
}

TEST(FirstLineTest, IsEmptyWhereNothingCanBeRead) {
  const testing::TemporaryDirectory directory;
  EXPECT_EQ(first_line_of(directory / "missing"), "");
  EXPECT_EQ(first_line_of(directory.path()), "");
  EXPECT_EQ(first_line_of(directory.write("empty", "")), "");
}

TEST(FirstLineTest, APipeThatNobodyWritesToIsNotWaitedFor) {
  const testing::TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(first_line_of(pipe), "");
}

TEST(ShebangTest, WordsAreApartByBlanksAndTabs) {
  EXPECT_THAT(shebang_words("#!/usr/bin/env node"), ElementsAre("/usr/bin/env", "node"));
  EXPECT_THAT(shebang_words("#! \t/bin/sh\t -e  "), ElementsAre("/bin/sh", "-e"));
}

TEST(ShebangTest, AnythingElseHasNoInterpreter) {
  EXPECT_THAT(shebang_words(""), IsEmpty());
  EXPECT_THAT(shebang_words("#!"), IsEmpty());
  EXPECT_THAT(shebang_words("#! \t"), IsEmpty());
  EXPECT_THAT(shebang_words("# !/bin/sh"), IsEmpty());
  EXPECT_THAT(shebang_words(" #!/bin/sh"), IsEmpty());
  EXPECT_THAT(shebang_words("\x7f"
                            "ELF"),
              IsEmpty());
}

}  // namespace
}  // namespace sitter
