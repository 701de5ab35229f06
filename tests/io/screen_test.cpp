#include "demo/screen.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sitter {
namespace {

using std::chrono::milliseconds;

/// What a screen writes and waits.
class ScreenTest : public ::testing::Test {
 protected:
  Screen screen(bool has_color, std::size_t columns) {
    return Screen({.has_color = has_color,
                   .columns = columns,
                   .write = [this](std::string_view text) { written_ += text; },
                   .wait = [this](milliseconds time) { waited_ += time; }});
  }

  std::string written_;
  milliseconds waited_{};
};

TEST_F(ScreenTest, FurtherLinesAreIndentedByTheLabel) {
  screen(false, 0).show("model <- ", "one\ntwo");
  EXPECT_EQ(written_, "model <- one\n         two\n");
}

TEST_F(ScreenTest, NoLineIsLongerThanTheTerminal) {
  screen(false, 12).show("model <- ", "one two\nthree");
  EXPECT_EQ(written_, "model <- one\n         two\n         thr\n         ee\n");
}

TEST_F(ScreenTest, ALabelIsGreyAndEachLineEndsItsOwnColor) {
  screen(true, 0).show("> ", "one\ntwo", Screen::Look::added);
  EXPECT_EQ(written_, "\033[90m> \033[0m\033[32mone\033[0m\n  \033[32mtwo\033[0m\n");
}

TEST_F(ScreenTest, WhatAServerSaysControlsNoTerminal) {
  screen(false, 0).show("", "a\033[2Jb");
  EXPECT_EQ(written_, "ab\n");
}

TEST_F(ScreenTest, APauseIsLongerTheMoreThereIsToRead) {
  Screen shown = screen(false, 0);
  shown.show("", "one");
  shown.pause();
  const milliseconds one = waited_;
  shown.show("", "one\ntwo\n" + std::string(150, 'x'));
  shown.pause();
  EXPECT_GT(waited_ - one, 2 * one);
  waited_ = {};
  shown.pause();
  EXPECT_LT(waited_, one);
}

}  // namespace
}  // namespace sitter
