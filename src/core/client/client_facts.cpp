#include "core/client/client_facts.hpp"

#include <algorithm>
#include <array>

namespace sitter {
namespace {

struct Known {
  std::string_view name;
  ClientFacts facts;
};

constexpr ClientFacts kListsOnce{.lists_again = false};
constexpr ClientFacts kTakesItsTime{.pause_after_list = limits::kPauseAfterList};

constexpr std::array kClients = {
    // Codex 0.169
    Known{"codex-mcp-client", kListsOnce},
    // Qwen Code 0.24, which adds the name of the server to its own name
    Known{"qwen-cli-mcp-client", kListsOnce},
    // Cline 3.0
    Known{"@cline/core", kListsOnce},
    // Gemini CLI 0.61, which registers the tools one by one and then renews its prompt
    Known{"gemini-cli-mcp-client", kTakesItsTime},
};

/// Whether the client has this name, or this name followed by a hyphen and more.
bool has_name(std::string_view client, std::string_view name) {
  return client.starts_with(name) && (client.size() == name.size() || client[name.size()] == '-');
}

}  // namespace

ClientFacts facts_of_client(std::string_view name) {
  const auto known = std::find_if(kClients.begin(), kClients.end(),
                                  [&](const Known& client) { return has_name(name, client.name); });
  return known == kClients.end() ? ClientFacts{} : known->facts;
}

}  // namespace sitter
