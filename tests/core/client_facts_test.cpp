#include "core/client/client_facts.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(ClientFacts, AnUnknownClientHasTheDefaultFacts) {
  for (const auto* name :
       {"", "claude-code", "story", "codex-mcp-clients", "my-codex-mcp-client"}) {
    EXPECT_EQ(facts_of_client(name), ClientFacts{}) << name;
  }
  EXPECT_TRUE(ClientFacts{}.lists_again);
  EXPECT_EQ(ClientFacts{}.pause_after_list, Milliseconds::zero());
}

TEST(ClientFacts, SomeNeverListAgain) {
  for (const auto* name : {"codex-mcp-client", "qwen-cli-mcp-client-dev", "@cline/core"}) {
    EXPECT_FALSE(facts_of_client(name).lists_again) << name;
    EXPECT_EQ(facts_of_client(name).pause_after_list, Milliseconds::zero()) << name;
  }
}

TEST(ClientFacts, OthersNeedAPauseAfterTheirList) {
  const ClientFacts facts = facts_of_client("gemini-cli-mcp-client");
  EXPECT_TRUE(facts.lists_again);
  EXPECT_EQ(facts.pause_after_list, Milliseconds(100));
}

}  // namespace
}  // namespace sitter
