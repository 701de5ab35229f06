#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_client.hpp"

namespace sitter::testing {
namespace {

using ::testing::HasSubstr;

TEST(Session, AnswersComeThrough) {
  ScriptedClient client;
  client.open();
  EXPECT_EQ(client.text_of_call("echo", {{"text", "hello"}}), "hello");
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace sitter::testing
