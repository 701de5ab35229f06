#pragma once

#include <string>

#include "setup/actions.hpp"

namespace sitter::setup {

/// The words that run `program`, which is this program, from a client: its name if PATH leads to
/// it, `npx` if it is in a cache of npx, which may be emptied, or else its path.
Words own_command(const std::string& program);

/// The words behind the program mcp-sitter, and a line that says which of them were guessed.
struct BridgeWords {
  Words words;
  std::string guessed;
};

/// The words for a server that is registered, with the server's own at the end. `cwd` is what the
/// entry says. Throws Failure if mcp-sitter would not start with them.
BridgeWords words_for(const Request& request, const Words& server, const std::string& cwd,
                      const Place& place, const Surroundings& here);

/// The words of a wrapped server with the options of the request instead of its own. Throws Failure
/// as above.
Words words_again(const Request& request, const Place& place, const Words& wrapped);

/// The words for a new server. The command may be a whole command line of mcp-sitter, for what the
/// options of `setup` do not say (--cli, --http, --env). Throws Failure as above.
BridgeWords words_for_new(const Request& request, const Place& place, const Surroundings& here);

/// The entry of the request, for a message.
std::string entry_name(const Request& request, const Place& place);

/// Throws Failure, which names the entry, if mcp-sitter would not start with these words.
void check_words(const Words& words, const std::string& entry);

/// A line about a server that cannot be started now; empty if it can.
std::string warning_about(const Words& words);

/// The words as a person would type them.
std::string typed(const Words& words);

}  // namespace sitter::setup
