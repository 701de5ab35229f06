#include "terminal/shell_word.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(ShellWordTest, OnlyWhatAShellWouldChangeIsQuoted) {
  EXPECT_EQ(shell_word("a/b-c.d"), "a/b-c.d");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
}

}  // namespace
}  // namespace sitter
